// An operation ready to be served: what its checks can know before any request is worked out once.
import type { Operation } from '../operation.ts';
import { type QueryReader, queryReader } from './query.ts';
import { type PathMatcher, pathMatcher } from './route.ts';

export interface ServedOperation {
  operation: Operation;
  matchPath: PathMatcher;
  readQuery: QueryReader;
}

/** Makes an operation ready. */
export function served(operation: Operation): ServedOperation {
  return {
    operation,
    matchPath: pathMatcher(operation.path),
    readQuery: queryReader(operation.query),
  };
}
