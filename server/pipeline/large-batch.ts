// Reads a large batch element by element, in turns: parsed as one text it would block all other requests.

import { TimeSlices } from '../../db/event-loop.ts';
import type { Fault } from '../../db/model/faults.ts';
import type { JsonValue } from '../../db/model/json.ts';
import { type ApiError, invalid } from '../errors.ts';
import {
  decodeUtf8,
  emptyBody,
  mayHoldOddText,
  notJson,
  type ParsedBody,
  requireJson,
  syntaxError,
  withoutMark,
} from '../json/json-reader.ts';
import { type ElementPlace, JsonScan } from '../json/json-scan.ts';
import {
  characterAt,
  countKeys,
  findElementFault,
  findSyntaxFault,
  structureLimitError,
  TextPlace,
} from '../json/json-syntax.ts';

const MIB = 1024 * 1024;
/** Larger batches are read in turns. */
export const LARGE_BATCH_BYTES = MIB / 4;
// More than any record takes with every character escaped; reading a text of 32 MiB can take 0.2 s.
const ELEMENT_BYTES_MAX = 4 * MIB;
const ELEMENT_TOO_LARGE: Fault = {
  path: '',
  message: `The item is larger than ${ELEMENT_BYTES_MAX / MIB} MiB, more than any record takes.`,
  code: 'VALIDATION_OUT_OF_RANGE',
};
// Bytes read between two checks of the clock: less than a millisecond of work.
const STEP_BYTES = MIB / 4;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const VALUE_STARTS = new Set(Buffer.from('{"-0123456789tfn'));
const lossyDecoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** An element of the array in a body. */
export interface BatchElement extends ParsedBody {
  /** Why it was not read. */
  fault: Fault | null;
}

/**
 * Reads an array one element at a time, with the same result as `parseJson`.
 * @param refuseCount receives the number of elements before any is read, and throws if there are too many
 * @throws ApiError 422 as for any body; of several syntax errors it can report a different one
 */
export async function readLargeBatch(
  body: Uint8Array,
  contentType: string | null,
  refuseCount: (count: number) => void,
): Promise<BatchElement[]> {
  requireJson(contentType);
  const bytes = withoutMark(body);
  const turns = new TimeSlices();
  await requireArray(bytes, turns);
  const survey = new JsonScan(bytes, { withElements: true });
  while (!survey.isDone) {
    survey.advance(STEP_BYTES);
    if (turns.isOver) await turns.next();
  }
  if (survey.tooMuch !== null) throw structureLimitError(survey.tooMuch);
  const places = withoutBlank(bytes, survey.elements);
  const end = survey.elements.at(-1)?.end ?? bytes.length;
  const isClosed = bytes[end] === CLOSING_BRACKET;
  if (isClosed) refuseCount(places.length);
  const elements: BatchElement[] = [];
  for (const [index, place] of places.entries()) {
    if (turns.isOver) await turns.next();
    elements.push(await readElement(bytes, place, index, turns));
    if (survey.hasLongNumbers) Object.assign(elements[index] ?? {}, { isSuspect: true });
  }
  if (!isClosed) throw await unclosed(bytes, survey.elements, turns);
  await requireEnd(bytes, end + 1, turns);
  return elements;
}

async function requireArray(bytes: Uint8Array, turns: TimeSlices): Promise<void> {
  const start = await skipBlank(bytes, 0, turns);
  const first = bytes[start];
  if (first === OPENING_BRACKET) return;
  if (first === undefined) throw emptyBody();
  if (VALUE_STARTS.has(first)) throw notAnArray();
  throw await syntaxErrorAt(bytes, start, 'a value', turns);
}

/** The 422 for a body that is not an array. */
export function notAnArray(): ApiError {
  return invalid('', 'The body must be an array of items.');
}

async function requireEnd(bytes: Uint8Array, from: number, turns: TimeSlices): Promise<void> {
  const at = await skipBlank(bytes, from, turns);
  if (at < bytes.length) throw await syntaxErrorAt(bytes, at, 'the end of the body', turns);
}

// `[ ]` has no elements.
function withoutBlank(bytes: Uint8Array, places: readonly ElementPlace[]): readonly ElementPlace[] {
  const [only] = places;
  if (places.length !== 1 || only === undefined || bytes[only.end] !== CLOSING_BRACKET) return places;
  for (let at = only.start; at < only.end; at++) if (!isBlank(bytes[at])) return places;
  return [];
}

async function readElement(
  bytes: Uint8Array,
  place: ElementPlace,
  index: number,
  turns: TimeSlices,
): Promise<BatchElement> {
  const { start, end, colons } = place;
  if (end - start > ELEMENT_BYTES_MAX) return { value: null, isSuspect: false, fault: ELEMENT_TOO_LARGE };
  const text = decodeUtf8(bytes.subarray(start, end));
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    throw await elementError(bytes, place, index, turns);
  }
  // As for any body: repeated keys are detected by count, and only then searched for.
  if (countKeys(value) !== colons) findSyntaxFault(text, String(index));
  return { value, isSuspect: mayHoldOddText(text), fault: null };
}

async function unclosed(
  bytes: Uint8Array,
  places: readonly ElementPlace[],
  turns: TimeSlices,
): Promise<ApiError> {
  const last = places.at(-1);
  const isOfSize = last !== undefined && last.end - last.start <= ELEMENT_BYTES_MAX;
  return isOfSize
    ? elementError(bytes, last, places.length - 1, turns)
    : notJson(': the array is not closed');
}

// The error in an element, or right after it.
async function elementError(
  bytes: Uint8Array,
  { start, end }: ElementPlace,
  index: number,
  turns: TimeSlices,
): Promise<ApiError> {
  const text = decodeUtf8(bytes.subarray(start, end + 1));
  const fault = findElementFault(text, String(index));
  if (fault === undefined) return notJson('');
  const at = start + Buffer.byteLength(text.slice(0, fault.at));
  return syntaxError(fault, await placeOf(bytes, at, turns));
}

async function syntaxErrorAt(
  bytes: Uint8Array,
  at: number,
  expected: string,
  turns: TimeSlices,
): Promise<ApiError> {
  // A character has at most four bytes.
  const found = characterAt(lossyDecoder.decode(bytes.subarray(at, at + 4)), 0);
  return syntaxError({ at, expected, found }, await placeOf(bytes, at, turns));
}

async function placeOf(bytes: Uint8Array, at: number, turns: TimeSlices): Promise<TextPlace> {
  const place = new TextPlace();
  for (let from = 0; from < at; from += STEP_BYTES) {
    place.advance(bytes, from, Math.min(from + STEP_BYTES, at));
    if (turns.isOver) await turns.next();
  }
  return place;
}

async function skipBlank(bytes: Uint8Array, from: number, turns: TimeSlices): Promise<number> {
  let at = from;
  while (at < bytes.length) {
    const stop = Math.min(at + STEP_BYTES, bytes.length);
    while (at < stop && isBlank(bytes[at])) at++;
    if (at < stop) return at;
    if (turns.isOver) await turns.next();
  }
  return at;
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
