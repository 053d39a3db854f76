// Turns a row of version 1's endpoint table into an operation.
import type { Eventually } from '../../db/engine/engine.ts';
import type { Answer, Operation, ReadOperation, WriteOperation } from '../operation.ts';
import { toV1Errors, type V1Errors } from './errors.ts';

type RowOf<O extends Operation> = Pick<O, 'method' | 'id' | 'summary' | 'errorStatuses' | 'run'> &
  Partial<O> &
  V1Errors & { at: string; scope: string; answerKind?: 'success' | 'list' | 'none' };

/** A row of the endpoint table: what does not follow from where it stands. */
export type EndpointRow = RowOf<ReadOperation> | (RowOf<WriteOperation> & { isWrite: true });

const SUCCESSES = {
  get: { 200: 'Found.' },
  success: { 200: 'Success.' },
  list: { 200: 'One page of results.' },
  none: { 204: 'Deleted. The response has no body.' },
};

/** The operation of a row. */
export function operationOf(tag: string, row: EndpointRow): Operation {
  const { at, scope, ownNames, errorStatuses } = row;
  const answerKind = row.answerKind ?? 'success';
  const common = {
    api: 'v1' as const,
    path: `/api/v1${at}`,
    tag,
    scopes: [scope],
    query: {},
    answerKind,
    successes: SUCCESSES[row.method === 'GET' ? 'get' : answerKind],
  };
  const run =
    <C>(handler: (call: C) => Eventually<Answer>) =>
    (call: C) =>
      toV1Errors({ errorStatuses, ownNames }, async () => handler(call));
  if (row.isWrite) return { ...common, ...own(row), run: run(row.run) };
  return { ...common, ...own(row), isWrite: false, run: run(row.run) };
}

// What a row says of its operation beyond what follows from its place.
function own<R extends EndpointRow>({ at: _, scope: __, ownNames: ___, ...row }: R) {
  return row;
}
