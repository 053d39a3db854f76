// Batch create: items are created in order, each on its own.
import { type TSchema, Type } from 'typebox';
import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { ApiError, errorCodeSchema, errorDetailSchema, validationError } from '../errors.ts';
import type { WriteCall } from '../operation.ts';
import { createRecords } from '../records/changes.ts';

// After this many faults in a request, later items get only a code and a message.
const FAULTS_LISTED_MAX = 200;

/** Creates the items in order; one that fails does not affect the others. */
export async function batchCreate(call: WriteCall, resource: Resource): Promise<Data> {
  const items = call.body as Data[];
  const faultsOf = (index: number) => call.itemFaults[index] ?? [];
  const valid = items.filter((_, index) => faultsOf(index).length === 0);
  const outcomes = (await createRecords(call, resource, valid)).values();
  let succeeded = 0;
  let listed = 0;
  const results = items.map((_, index): Data => {
    const faults = faultsOf(index);
    const outcome = faults.length > 0 ? validationError(faults) : (outcomes.next().value ?? {});
    if (!(outcome instanceof ApiError)) {
      succeeded += 1;
      return { index, status: 'created', data: outcome };
    }
    const error = itemError(outcome, listed < FAULTS_LISTED_MAX);
    listed += outcome.details?.length ?? 0;
    return { index, status: 'error', error };
  });
  return { items: results, summary: { total: items.length, succeeded, failed: items.length - succeeded } };
}

function itemError({ code, message, details }: ApiError, isListed: boolean): Data {
  if (details === null) return { code, message };
  if (isListed) return { code, message, details };
  const several = 'The item has several errors, which are not listed; correct the items before it first.';
  return { code, message: details.length > 1 ? several : message };
}

const closed = { additionalProperties: false };
const countOf = (example: number) => Type.Integer({ minimum: 0, examples: [example] });

const itemErrorSchema = Type.Object(
  {
    code: errorCodeSchema,
    message: Type.String(),
    details: Type.Optional(Type.Array(errorDetailSchema)),
  },
  {
    ...closed,
    $id: 'BatchItemError',
    examples: [
      {
        code: 'VALIDATION_REQUIRED_FIELD',
        message: 'name: is required',
        details: [{ path: 'name', message: 'is required', code: 'VALIDATION_REQUIRED_FIELD' }],
      },
    ],
  },
);
const failedItem = Type.Object(
  { index: countOf(1), status: Type.Enum(['error']), error: itemErrorSchema },
  { ...closed, $id: 'BatchItemFailed' },
);
const summary = Type.Object(
  { total: countOf(2), succeeded: countOf(1), failed: countOf(1) },
  { ...closed, $id: 'BatchSummary' },
);

/** Schema of a batch's `data`, for records of that type. */
export function batchSchema(typeName: string, record: TSchema): TSchema {
  const $id = `${typeName}BatchItem`;
  const created = Type.Object(
    { index: countOf(0), status: Type.Enum(['created']), data: record },
    { ...closed, $id: `${$id}Created` },
  );
  const items = Type.Array(Type.Union([created, failedItem], { $id }));
  return Type.Object({ items, summary }, { ...closed, $id: `${typeName}BatchResult` });
}
