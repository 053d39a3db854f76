// Batch-create: items one after another, each in a savepoint of its own.
import { type TSchema, Type } from 'typebox';
import type { Data } from '../../db/declare/json.ts';
import type { Resource } from '../../db/declare/resource.ts';
import { attempt } from '../../db/savepoint.ts';
import { ApiError, type Detail, errorCodeSchema, errorDetailSchema, validationError } from '../errors.ts';
import type { Call } from '../operation.ts';
import { createRecord } from '../records/records.ts';

// Once so many faults have been listed, later items are told of theirs in a word.
const FAULTS_LISTED_MAX = 200;

/** Creates the items in order; one that fails harms no other. */
export async function batchCreate(call: Call, resource: Resource): Promise<Data> {
  const items = call.body as Data[];
  const results: Data[] = [];
  let listed = 0;
  for (const [index, item] of items.entries()) {
    const created = await createItem(call, resource, item, call.itemFaults[index] ?? []);
    if (created instanceof ApiError) {
      results.push({ index, status: 'error', error: itemError(created, listed < FAULTS_LISTED_MAX) });
      listed += created.details?.length ?? 0;
    } else results.push({ index, status: 'created', data: created });
  }
  const succeeded = results.filter((result) => result.status === 'created').length;
  const summary = { total: items.length, succeeded, failed: items.length - succeeded };
  return { items: results, summary };
}

async function createItem(
  call: Call,
  resource: Resource,
  item: Data,
  faults: Detail[],
): Promise<Data | ApiError> {
  try {
    if (faults.length > 0) return validationError(faults);
    return await attempt(call.db, () => createRecord(call, resource, item));
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

function itemError({ code, message, details }: ApiError, isListed: boolean): Data {
  if (details === null) return { code, message };
  if (isListed) return { code, message, details };
  const several = 'The item has several faults, which are not listed: correct the items before it first.';
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
        code: 'VALIDATION_FAILED',
        message: 'colour: is not a field that can be sent here',
        details: [
          { path: 'colour', message: 'is not a field that can be sent here', code: 'VALIDATION_FAILED' },
        ],
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

/** Schema of a batch's `data`, of records of that type. */
export function batchSchema(typeName: string, record: TSchema): TSchema {
  const $id = `${typeName}BatchItem`;
  const created = Type.Object(
    { index: countOf(0), status: Type.Enum(['created']), data: record },
    { ...closed, $id: `${$id}Created` },
  );
  const items = Type.Array(Type.Union([created, failedItem], { $id }));
  return Type.Object({ items, summary }, { ...closed, $id: `${typeName}Batch` });
}
