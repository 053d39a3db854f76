// An operation ready to be served: everything its checks need is prepared once, before any request.
import type { Operation } from '../operation.ts';
import { type QueryReader, queryReader } from './query.ts';
import { type PathMatcher, pathMatcher } from './route.ts';

export interface PreparedOperation {
  operation: Operation;
  matchPath: PathMatcher;
  readQuery: QueryReader;
}

/** Prepares an operation. */
export function prepareOperation(operation: Operation): PreparedOperation {
  return {
    operation,
    matchPath: pathMatcher(operation.path),
    readQuery: queryReader(operation.query),
  };
}
