// Batch-create: items one after another, each in a savepoint of its own.
import { type TSchema, Type } from 'typebox';
import type { Data } from '../../db/declare/json.ts';
import type { Resource } from '../../db/declare/resource.ts';
import { attempt } from '../../db/savepoint.ts';
import { ApiError, type Detail, ERROR_CODES, validationError } from '../errors.ts';
import type { Call } from '../operation.ts';
import { createRecord } from '../records/records.ts';

/** Creates the items in order; one that fails harms no other. */
export async function batchCreate(call: Call, resource: Resource): Promise<Data> {
  const items = call.body as Data[];
  const results: Data[] = [];
  for (const [index, item] of items.entries())
    results.push({ index, ...(await createItem(call, resource, item, call.itemFaults[index] ?? [])) });
  const succeeded = results.filter((result) => result.status === 'created').length;
  const summary = { total: items.length, succeeded, failed: items.length - succeeded };
  return { items: results, summary };
}

async function createItem(call: Call, resource: Resource, item: Data, faults: Detail[]): Promise<Data> {
  try {
    if (faults.length > 0) throw validationError(faults);
    const data = await attempt(call.db, () => createRecord(call, resource, item));
    return { status: 'created', data };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, message, details } = error;
    return { status: 'error', error: { code, message, ...(details !== null && { details }) } };
  }
}

/** Schema of a batch's `data`. */
export function batchSchema(record: TSchema): TSchema {
  const count = Type.Integer({ minimum: 0 });
  const detail = Type.Object({
    path: Type.String(),
    message: Type.String(),
    code: Type.Optional(Type.String()),
  });
  const error = Type.Object({
    code: Type.Enum([...ERROR_CODES]),
    message: Type.String(),
    details: Type.Optional(Type.Array(detail)),
  });
  const item = Type.Object({
    index: count,
    status: Type.Enum(['created', 'error']),
    data: Type.Optional(record),
    error: Type.Optional(error),
  });
  return Type.Object({
    items: Type.Array(item),
    summary: Type.Object({ total: count, succeeded: count, failed: count }),
  });
}
