// Step 7, validation: the body against the operation's schema; every fault with its path and what is allowed.
import { faultsOf } from '../../db/declare/check.ts';
import type { Fault } from '../../db/declare/faults.ts';
import type { JsonValue } from '../../db/declare/json.ts';
import { nextTurn } from '../../db/event-loop.ts';
import { invalid, validationError } from '../errors.ts';
import { BATCH_ITEMS_MAX, type Operation } from '../operation.ts';
import { parseJson } from './json.ts';

// How long the items of a batch keep other requests waiting at a time.
const TURN_MS_MAX = 10;

/** A body that an operation can take. */
export interface ValidBody {
  /** What was sent; an array for a batch. */
  body: JsonValue;
  /** For each item of a batch its faults; only one without any is to be carried out. */
  itemFaults: readonly Fault[][];
}

/**
 * The body of a request, valid for its operation; items of a batch may have faults of their own.
 * @throws ApiError 422 with all faults
 */
export async function validateBody(
  operation: Operation,
  bytes: Uint8Array,
  contentType: string | null,
): Promise<ValidBody> {
  const { body: schema, inspect } = operation;
  if (schema === undefined) return { body: null, itemFaults: [] };
  const { value, isSuspect } = parseJson(bytes, contentType);
  const declaration = { schema, inspect };
  const faultsIn = (one: JsonValue) => faultsOf(one, declaration, { isSuspect });
  if (operation.isBatch === true)
    return { body: value, itemFaults: await faultsOfEach(batchItems(value), faultsIn) };
  if (Array.isArray(value) && operation.batchPath !== undefined) {
    throw invalid('', `The body must be one record; an array of them goes to POST ${operation.batchPath}.`);
  }
  const faults = faultsIn(value);
  if (faults.length > 0) throw validationError(faults);
  return { body: value, itemFaults: [] };
}

async function faultsOfEach(items: JsonValue[], faultsIn: (item: JsonValue) => Fault[]): Promise<Fault[][]> {
  const faults: Fault[][] = [];
  let turnEnds = performance.now() + TURN_MS_MAX;
  for (const item of items) {
    if (performance.now() > turnEnds) {
      await nextTurn();
      turnEnds = performance.now() + TURN_MS_MAX;
    }
    faults.push(faultsIn(item));
  }
  return faults;
}

function batchItems(value: JsonValue): JsonValue[] {
  if (!Array.isArray(value)) throw invalid('', 'The body must be an array of items.');
  if (value.length <= BATCH_ITEMS_MAX) return value;
  const message = `A batch has at most ${BATCH_ITEMS_MAX} items; this one has ${value.length}.`;
  throw invalid('', message, 'VALIDATION_OUT_OF_RANGE');
}
