// The strict JSON reader: bytes → UTF-8 → nesting and keys → value; nothing is dropped or coerced in silence.
import type { JsonValue } from '../../db/model/json.ts';
import { type ApiError, invalid } from '../errors.ts';
import { JsonSurvey } from './json-scan.ts';
import { countKeys, refuseStructure, tooMuch } from './json-structure.ts';
import { findSyntaxFault, type SyntaxFault, TextPlace } from './json-syntax.ts';

// A mark in front is taken away first: inside the body it would be a character like any other.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const MARK = [0xef, 0xbb, 0xbf];

export interface ParsedBody {
  value: JsonValue;
  /** Whether it may hold characters or numbers that no record can hold. */
  isSuspect: boolean;
}

/**
 * Reads a JSON body.
 * @param contentType the header as sent; null is read as JSON
 * @throws ApiError 422 for another content type, bad UTF-8, bad JSON, too deep nesting, too many values, repeated
 *   keys, `__proto__`
 */
export function parseJson(body: Uint8Array, contentType: string | null): ParsedBody {
  requireJson(contentType);
  const bytes = withoutMark(body);
  const text = decodeUtf8(bytes);
  const survey = new JsonSurvey(bytes).advance();
  if (survey.tooMuch !== null) {
    refuseStructure(text);
    throw tooMuch(survey.tooMuch);
  }
  const value = parse(text, bytes);
  // JSON.parse keeps the last of repeated keys; which one that is takes longer to find than that there is one.
  if (countKeys(value) !== survey.colons) refuseStructure(text);
  return { value, isSuspect: survey.hasLongNumbers || mayHoldOddText(text) };
}

/** Whether strings in the text may hold characters that no record can hold: these come escaped. */
export function mayHoldOddText(text: string): boolean {
  return text.includes('\\u');
}

function parse(text: string, bytes: Uint8Array): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    refuseStructure(text);
    if (text.trim() === '') throw emptyBody();
    const fault = findSyntaxFault(text);
    if (fault === undefined) throw notJson('');
    throw syntaxError(fault, new TextPlace().advance(bytes, 0, Buffer.byteLength(text.slice(0, fault.at))));
  }
}

/** The 422 for a body without anything in it. */
export function emptyBody(): ApiError {
  return invalid('', 'The body must not be empty; send a JSON value.', 'VALIDATION_INVALID_FORMAT');
}

/** The 422 for what is not JSON, with the place of the first fault. */
export function syntaxError({ expected, found }: SyntaxFault, { line, column }: TextPlace): ApiError {
  return notJson(`: at line ${line}, column ${column} there is ${found} where ${expected} should be`);
}

/** The 422 for what is not JSON; `why` goes on from there. */
export function notJson(why: string): ApiError {
  return invalid('', `The body must be valid JSON${why}.`, 'VALIDATION_INVALID_FORMAT');
}

/** @throws ApiError 422 for a body that is compressed, or encoded in any other way */
export function requireUnencoded(encoding: string | null): void {
  if (encoding === null || /^\s*(identity\s*,?\s*)*$/i.test(encoding)) return;
  const message = 'is not supported; send the body uncompressed, without this header';
  throw invalid('Content-Encoding', message, 'VALIDATION_INVALID_FORMAT');
}

/** @throws ApiError 422 for a content type other than JSON in UTF-8 */
export function requireJson(contentType: string | null): void {
  if (contentType === null || contentType === 'application/json') return;
  const [type = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  const isJson = type === 'application/json' || /^application\/[\w.+-]+\+json$/.test(type);
  const isUtf8 = parameters.every((one) => !one.startsWith('charset=') || /^charset="?utf-?8"?$/.test(one));
  if (isJson && isUtf8) return;
  // What curl -d says of any body.
  const isForm = type === 'application/x-www-form-urlencoded';
  const message = `must be application/json, in UTF-8${isForm ? '; curl says so with --json in place of -d' : ''}`;
  throw invalid('Content-Type', message, 'VALIDATION_INVALID_FORMAT');
}

/** The bytes of a body without the byte order mark that some programs write in front. */
export function withoutMark(bytes: Uint8Array): Uint8Array {
  return MARK.every((byte, index) => bytes[index] === byte) ? bytes.subarray(MARK.length) : bytes;
}

/** @throws ApiError 422 for bytes that are not UTF-8 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw invalid('', 'The body must be valid UTF-8.', 'VALIDATION_INVALID_FORMAT');
  }
}
