// The strict JSON reader: bytes → UTF-8 → nesting and keys → value; nothing is dropped or coerced in silence.
import type { JsonValue } from '../../db/declare/json.ts';
import { invalid } from '../errors.ts';
import { countKeys, refuseStructure, surveyText } from './json-structure.ts';
import { findSyntaxFault } from './json-syntax.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

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
export function parseJson(bytes: Uint8Array, contentType: string | null): ParsedBody {
  requireJson(contentType);
  const text = decodeUtf8(bytes);
  const survey = surveyText(text);
  if (survey.isTooMuch) refuseStructure(text);
  const value = parse(text);
  // JSON.parse keeps the last of repeated keys; which one that is takes longer to find than that there is one.
  if (countKeys(value) !== survey.colons) refuseStructure(text);
  return { value, isSuspect: survey.hasLongNumbers || text.includes('\\u') };
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    refuseStructure(text);
    throw invalid('', `The body must ${howItFails(text)}.`, 'VALIDATION_INVALID_FORMAT');
  }
}

function howItFails(text: string): string {
  if (text.trim() === '') return 'not be empty; send a JSON value';
  const fault = findSyntaxFault(text);
  if (fault === undefined) return 'be valid JSON';
  const { line, column, expected, found } = fault;
  return `be valid JSON: at line ${line}, column ${column} there is ${found} where ${expected} should be`;
}

function requireJson(contentType: string | null): void {
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

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw invalid('', 'The body must be valid UTF-8.', 'VALIDATION_INVALID_FORMAT');
  }
}
