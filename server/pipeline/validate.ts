// Step 7, validation: checks the body against the operation's schema and reports every error with its path.

import { TimeSlices } from '../../db/event-loop.ts';
import { faultsOf } from '../../db/model/check.ts';
import type { Fault } from '../../db/model/faults.ts';
import { isObject, type JsonValue } from '../../db/model/json.ts';
import { invalid, validationError } from '../errors.ts';
import { type ParsedBody, parseJson, requireUnencoded } from '../json/json-reader.ts';
import { BATCH_ITEMS_MAX, type Operation } from '../operation.ts';
import { type BatchElement, LARGE_BATCH_BYTES, notAnArray, readLargeBatch } from './large-batch.ts';

/** A body that an operation accepts. */
export interface ValidBody {
  /** The body as sent; for a batch an array, with no more than the ID of invalid items. */
  body: JsonValue;
  /** The faults of each batch item; only items without any are executed. */
  itemFaults: readonly Fault[][];
}

/**
 * The body of a request, valid for its operation; batch items can have faults of their own.
 * @throws ApiError 422 with all faults
 */
export async function validateBody(
  operation: Operation,
  bytes: Uint8Array,
  headers: Pick<Headers, 'get'>,
): Promise<ValidBody> {
  const { body: schema, inspect } = operation;
  if (schema === undefined) return { body: null, itemFaults: [] };
  requireUnencoded(headers.get('Content-Encoding'));
  const contentType = headers.get('Content-Type');
  const declaration = { schema, inspect };
  const faultsIn = ({ value, isSuspect }: ParsedBody) => faultsOf(value, declaration, { isSuspect });
  if (operation.isBatch === true) {
    const elements = await elementsOf(bytes, contentType);
    const itemFaults = await faultsOfEach(elements, faultsIn);
    // Invalid items are dropped, so that they are not sent to the writing thread.
    const body = elements.map(({ value }, index) => (itemFaults[index]?.length === 0 ? value : idIn(value)));
    return { body, itemFaults };
  }
  const parsed = parseJson(bytes, contentType);
  if (Array.isArray(parsed.value) && operation.batchPath !== undefined) {
    throw invalid(
      '',
      `The body must be one record; send an array of records to POST ${operation.batchPath}.`,
    );
  }
  const faults = faultsIn(parsed);
  if (faults.length > 0) throw validationError(faults);
  return { body: parsed.value, itemFaults: [] };
}

// All that a response shows of an item that is not executed, and that need not be kept otherwise.
function idIn(item: JsonValue): JsonValue {
  return isObject(item) && typeof item.id === 'string' ? { id: item.id } : null;
}

async function elementsOf(bytes: Uint8Array, contentType: string | null): Promise<BatchElement[]> {
  if (bytes.length > LARGE_BATCH_BYTES) return readLargeBatch(bytes, contentType, refuseCount);
  const { value, isSuspect } = parseJson(bytes, contentType);
  if (!Array.isArray(value)) throw notAnArray();
  refuseCount(value.length);
  return value.map((item) => ({ value: item, isSuspect, fault: null }));
}

async function faultsOfEach(
  elements: readonly BatchElement[],
  faultsIn: (element: BatchElement) => Fault[],
): Promise<Fault[][]> {
  const faults: Fault[][] = [];
  const turns = new TimeSlices();
  for (const element of elements) {
    if (turns.isOver) await turns.next();
    faults.push(element.fault === null ? faultsIn(element) : [element.fault]);
  }
  return faults;
}

function refuseCount(count: number): void {
  if (count <= BATCH_ITEMS_MAX) return;
  const message = `A batch can have at most ${BATCH_ITEMS_MAX} items; this one has ${count}.`;
  throw invalid('', message, 'VALIDATION_OUT_OF_RANGE');
}
