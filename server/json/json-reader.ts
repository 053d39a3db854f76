// The strict JSON reader: bytes → UTF-8 → nesting and keys → value; nothing is dropped or converted silently.
import type { JsonValue } from '../../db/model/json.ts';
import { type ApiError, invalid } from '../errors.ts';
import { JsonScan } from './json-scan.ts';
import {
  countKeys,
  findSyntaxFault,
  type SyntaxFault,
  structureLimitError,
  TextPlace,
} from './json-syntax.ts';

// A leading byte order mark is removed first; inside the body it is a character like any other.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const MARK = [0xef, 0xbb, 0xbf];

export interface ParsedBody {
  value: JsonValue;
  /** Whether it could contain characters or numbers that records cannot store. */
  isSuspect: boolean;
}

/**
 * Reads a JSON body.
 * @param contentType the header as sent; null is read as JSON
 * @throws ApiError 422 for another content type, invalid UTF-8 or JSON, deep nesting, too many values, repeated
 *   keys, `__proto__`
 */
export function parseJson(body: Uint8Array, contentType: string | null): ParsedBody {
  requireJson(contentType);
  const bytes = withoutMark(body);
  const text = decodeUtf8(bytes);
  const survey = new JsonScan(bytes).advance();
  if (survey.tooMuch !== null) throw structureLimitError(survey.tooMuch);
  const value = parse(text, bytes);
  // JSON.parse keeps the last of repeated keys; only if there are any is it worth finding which.
  if (countKeys(value) !== survey.colons) findSyntaxFault(text);
  return { value, isSuspect: survey.hasLongNumbers || mayHoldOddText(text) };
}

/** Whether strings in the text could contain characters that records cannot store; these arrive escaped. */
export function mayHoldOddText(text: string): boolean {
  return text.includes('\\u');
}

function parse(text: string, bytes: Uint8Array): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    if (text.trim() === '') throw emptyBody();
    const fault = findSyntaxFault(text);
    if (fault === undefined) throw notJson('');
    throw syntaxError(fault, new TextPlace().advance(bytes, 0, Buffer.byteLength(text.slice(0, fault.at))));
  }
}

/** The 422 for an empty body. */
export function emptyBody(): ApiError {
  return invalid('', 'The body must not be empty; send a JSON value.', 'VALIDATION_INVALID_FORMAT');
}

/** The 422 for invalid JSON, with the position of the first error. */
export function syntaxError({ expected, found }: SyntaxFault, { line, column }: TextPlace): ApiError {
  return notJson(`: at line ${line}, column ${column}, expected ${expected} but found ${found}`);
}

/** The 422 for invalid JSON; `why` continues the message. */
export function notJson(why: string): ApiError {
  return invalid('', `The body must be valid JSON${why}.`, 'VALIDATION_INVALID_FORMAT');
}

/** @throws ApiError 422 for a body that is compressed or otherwise encoded */
export function requireUnencoded(encoding: string | null): void {
  if (encoding === null || /^\s*(identity\s*,?\s*)*$/i.test(encoding)) return;
  const message = 'is not supported; send the body uncompressed and without this header';
  throw invalid('Content-Encoding', message, 'VALIDATION_INVALID_FORMAT');
}

/** @throws ApiError 422 for a content type other than JSON in UTF-8 */
export function requireJson(contentType: string | null): void {
  if (contentType === null || contentType === 'application/json') return;
  const [type = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  const isJson = type === 'application/json' || /^application\/[\w.+-]+\+json$/.test(type);
  const isUtf8 = parameters.every((one) => !one.startsWith('charset=') || /^charset="?utf-?8"?$/.test(one));
  if (isJson && isUtf8) return;
  // The default of curl -d.
  const isForm = type === 'application/x-www-form-urlencoded';
  const message = `must be application/json in UTF-8${isForm ? '; with curl, use --json instead of -d' : ''}`;
  throw invalid('Content-Type', message, 'VALIDATION_INVALID_FORMAT');
}

/** The bytes of a body without the byte order mark that some programs write. */
export function withoutMark(bytes: Uint8Array): Uint8Array {
  return MARK.every((byte, index) => bytes[index] === byte) ? bytes.subarray(MARK.length) : bytes;
}

/** @throws ApiError 422 for invalid UTF-8 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw invalid('', 'The body must be valid UTF-8.', 'VALIDATION_INVALID_FORMAT');
  }
}
