// The strict JSON reader: bytes → UTF-8 → nesting and keys → value; nothing is dropped or coerced in silence.
import { below, forbiddenKey } from '../../db/declare/faults.ts';
import type { JsonValue } from '../../db/declare/json.ts';
import { type ApiError, invalid, validationError } from '../errors.ts';
import { findSyntaxFault } from './json-syntax.ts';

const NESTING_MAX = 32;
// Four times what the fullest batch needs. Memory and time of what follows grow with it, so it is counted first.
const VALUES_MAX = 100_000;
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
  checkStructure(text);
  try {
    return { value: JSON.parse(text) as JsonValue, isSuspect: /\\u|\d{16}|\d[eE]/.test(text) };
  } catch {
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
  if (contentType === null) return;
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

interface Level {
  /** Keys seen so far; null in an array. */
  keys: Set<string> | null;
  key: string;
  index: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

// JSON.parse keeps the last of repeated keys and says nothing of depth, so both are looked for in the text itself.
function checkStructure(text: string): void {
  const levels: Level[] = [];
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      const end = endOfString(text, at);
      const level = levels.at(-1);
      if (level?.keys && nextIs(text, end + 1, ':'))
        noteKey(levels, level, level.keys, text.slice(at, end + 1));
      at = end;
    } else if (char === 0x7b || char === 0x5b) {
      levels.push({ keys: char === 0x7b ? new Set() : null, key: '', index: 0 });
      if (levels.length > NESTING_MAX)
        throw tooMuch(`The body must not be nested deeper than ${NESTING_MAX} levels.`);
      values++;
    } else if (char === 0x7d || char === 0x5d) levels.pop();
    else if (char === 0x2c) {
      const level = levels.at(-1);
      if (level !== undefined) level.index++;
      values++;
    }
    if (values > VALUES_MAX) throw tooMuch(`The body must not have more than ${VALUES_MAX} values.`);
  }
}

function tooMuch(message: string): ApiError {
  return invalid('', message, 'VALIDATION_OUT_OF_RANGE');
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === BACKSLASH) at++;
    else if (char === QUOTE) return at;
  }
  return text.length;
}

function nextIs(text: string, from: number, wanted: string): boolean {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at++;
  return text[at] === wanted;
}

function noteKey(levels: Level[], level: Level, keys: Set<string>, quoted: string): void {
  const key = quoted.includes('\\') ? unescaped(quoted) : quoted.slice(1, -1);
  level.key = key;
  if (key === '__proto__') throw validationError([forbiddenKey(pathAt(levels))]);
  if (keys.has(key)) throw invalid(pathAt(levels), 'is given more than once');
  keys.add(key);
}

function pathAt(levels: Level[]): string {
  return levels.reduce((path, { keys, key, index }) => below(path, keys === null ? String(index) : key), '');
}

function unescaped(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}
