// Batches: up to 100 items in one request, each carried out or rejected on its own, in order.
import { type TSchema, Type } from 'typebox';
import type { Data, JsonValue } from '../../db/model/json.ts';
import { named } from '../../db/model/schemas.ts';
import { ApiError, errorCodeSchema, errorDetailSchema, validationError } from '../errors.ts';
import type { Answer, Call } from '../operation.ts';
import type { BatchStatus, ItemOutcome } from '../records/outcomes.ts';
import { capitalized } from './naming.ts';

// After this many faults in a request, later items get only a code and a message.
const FAULTS_LISTED_MAX = 200;

/**
 * The response to a batch.
 * @param carryOut what is done with the valid items; returns the outcome of each, in their order
 */
export async function batchAnswer<Item extends JsonValue>(
  call: Call,
  carryOut: (items: readonly Item[]) => Promise<readonly ItemOutcome[]>,
): Promise<Answer> {
  const items = call.body as Item[];
  const faultsOf = (index: number) => call.itemFaults[index] ?? [];
  const valid = items.filter((_, index) => faultsOf(index).length === 0);
  const outcomes = (await carryOut(valid)).values();
  let succeeded = 0;
  let listed = 0;
  const results = items.map((_, index): Data => {
    const faults = faultsOf(index);
    const outcome = faults.length > 0 ? validationError(faults) : outcomes.next().value;
    if (outcome === undefined) throw new Error(`item ${index} of a batch has no outcome`);
    if (!(outcome instanceof ApiError)) {
      succeeded += 1;
      return { index, ...outcome };
    }
    const error = itemError(outcome, listed < FAULTS_LISTED_MAX);
    listed += outcome.details?.length ?? 0;
    return { index, status: 'error', error };
  });
  const summary = { total: items.length, succeeded, failed: items.length - succeeded };
  return { status: 200, object: 'batch', data: { items: results, summary } };
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

/**
 * Schema of a batch's `data`.
 * @param name of the batch, such as `ContactBatchUpdate`, from which those of its parts are made
 * @param statuses of items that succeed; the first one also names their schema
 * @param data of such an item; not given if it has none
 */
export function batchSchema(
  name: string,
  statuses: readonly [BatchStatus, ...BatchStatus[]],
  data?: TSchema,
): TSchema {
  const status = Type.Enum([...statuses]);
  const succeeded = named(
    `${name}Item${capitalized(statuses[0])}`,
    Type.Object({ index: countOf(0), status, ...(data && { data }) }, closed),
  );
  const items = Type.Array(Type.Union([succeeded, failedItem], { $id: `${name}Item` }));
  return Type.Object({ items, summary }, { ...closed, $id: `${name}Result` });
}
