// Batches: up to 100 items in one request, each carried out or rejected on its own, in order.
import { type TSchema, Type } from 'typebox';
import { idSchema, NAME_CHARACTERS_MAX } from '../../db/model/fields.ts';
import type { Data, JsonValue } from '../../db/model/json.ts';
import { named } from '../../db/model/schemas.ts';
import { ApiError, errorCodeSchema, errorDetailSchema, validationError } from '../errors.ts';
import type { Answer, Call, ItemResult } from '../operation.ts';
import type { BatchStatus, ItemOutcome } from '../records/outcomes.ts';
import { capitalized } from './naming.ts';

// After this many faults in a request, later items get only a code and a message.
const FAULTS_LISTED_MAX = 200;

/**
 * The response to a batch.
 * @param carryOut what is done with the valid items; returns the outcome of each, in their order
 * @param idOf the ID that an item names, if the response repeats it
 */
export async function batchAnswer<Item extends JsonValue>(
  call: Call,
  carryOut: (items: readonly Item[]) => Promise<readonly ItemOutcome[]>,
  idOf?: (item: JsonValue) => JsonValue | undefined,
): Promise<Answer> {
  const items = call.body as Item[];
  const faultsOf = (index: number) => call.itemFaults[index] ?? [];
  const valid = items.filter((_, index) => faultsOf(index).length === 0);
  const outcomes = (await carryOut(valid)).values();
  let succeeded = 0;
  let listed = 0;
  const results = items.map((item, index): ItemResult => {
    const named = idOf === undefined ? { index } : { index, ...sentId(idOf(item)) };
    const faults = faultsOf(index);
    const outcome = faults.length > 0 ? validationError(faults) : outcomes.next().value;
    if (outcome === undefined) throw new Error(`item ${index} of a batch has no outcome`);
    if (!(outcome instanceof ApiError)) {
      succeeded += 1;
      return { ...named, ...outcome };
    }
    const error = itemError(outcome, listed < FAULTS_LISTED_MAX);
    listed += outcome.details?.length ?? 0;
    return { ...named, status: 'error', error };
  });
  const summary = { total: items.length, succeeded, failed: items.length - succeeded };
  return { status: 200, object: 'batch', data: { items: results, summary } };
}

// As sent, unless it cannot be an ID.
function sentId(id: JsonValue | undefined): Data {
  return typeof id === 'string' && id.length <= NAME_CHARACTERS_MAX ? { id } : {};
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
const failedItem = named(
  'BatchItemFailed',
  Type.Object({ index: countOf(1), status: Type.Enum(['error']), error: itemErrorSchema }, closed),
);
const failedItemById = named(
  'BatchItemFailedById',
  Type.Object(
    {
      index: countOf(1),
      id: Type.Optional(idSchema()),
      status: Type.Enum(['error']),
      error: itemErrorSchema,
    },
    closed,
  ),
);
const summary = Type.Object(
  { total: countOf(2), succeeded: countOf(1), failed: countOf(1) },
  { ...closed, $id: 'BatchSummary' },
);

/**
 * Schema of a batch's `data`.
 * @param name of the batch, such as `ContactBatchUpdate`, from which those of its parts are made
 * @param statuses of items that succeed; the first one also names their schema
 * @param data of such an item; not given if it has none
 * @param isById whether each item names an ID, which the response repeats
 */
export function batchSchema(
  name: string,
  statuses: readonly [BatchStatus, ...BatchStatus[]],
  data: TSchema | null = null,
  isById = false,
): TSchema {
  const status = Type.Enum([...statuses]);
  const succeeded = named(
    `${name}Item${capitalized(statuses[0])}`,
    Type.Object(
      { index: countOf(0), ...(isById && { id: idSchema() }), status, ...(data !== null && { data }) },
      closed,
    ),
  );
  const failed = isById ? failedItemById : failedItem;
  const items = Type.Array(Type.Union([succeeded, failed], { $id: `${name}Item` }));
  return Type.Object({ items, summary }, { ...closed, $id: `${name}Result` });
}
