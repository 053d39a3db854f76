// Rejects what JSON.parse accepts silently: deep nesting, too many values, repeated keys, `__proto__`.
import { forbiddenKeyFault, keyPath } from '../../db/model/faults.ts';
import { isObject, type JsonValue } from '../../db/model/json.ts';
import { type ApiError, invalid, validationError } from '../errors.ts';
import { NESTING_MAX, VALUES_MAX } from './json-scan.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const FORBIDDEN_KEY = '__proto__';

/** How many keys a value has on all levels, not counting `__proto__`. */
export function countKeys(value: JsonValue): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object' && item !== null) count += countKeys(item);
  } else if (isObject(value)) {
    for (const key in value) {
      if (key !== FORBIDDEN_KEY) count++;
      const item = value[key];
      if (typeof item === 'object' && item !== null) count += countKeys(item);
    }
  }
  return count;
}

interface Level {
  /** Keys seen so far; null in an array. */
  keys: Set<string> | null;
  key: string;
  index: number;
}

/**
 * Scans a text, JSON or not, and @throws ApiError 422 for the first violation.
 * @param root the path of the text, if it is an element of the body
 */
export function checkStructure(text: string, root = ''): void {
  const levels: Level[] = [];
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      const end = endOfString(text, at);
      const level = levels.at(-1);
      if (level?.keys && nextIs(text, end + 1, ':'))
        noteKey({ root, levels }, level, level.keys, text.slice(at, end + 1));
      at = end;
    } else if (isOpening(char)) {
      levels.push({ keys: char === 0x7b ? new Set() : null, key: '', index: 0 });
      if (levels.length > NESTING_MAX) throw structureLimitError('levels');
      values++;
    } else if (isClosing(char)) levels.pop();
    else if (char === COMMA) {
      const level = levels.at(-1);
      if (level !== undefined) level.index++;
      values++;
    }
    if (values > VALUES_MAX) throw structureLimitError('values');
  }
}

function isOpening(char: number): boolean {
  return char === 0x7b || char === 0x5b;
}

function isClosing(char: number): boolean {
  return char === 0x7d || char === 0x5d;
}

/** The 422 for a body with too many levels or values. */
export function structureLimitError(what: 'levels' | 'values'): ApiError {
  const message =
    what === 'levels'
      ? `The body must not be nested deeper than ${NESTING_MAX} levels.`
      : `The body must not have more than ${VALUES_MAX} values.`;
  return invalid('', message, 'VALIDATION_OUT_OF_RANGE');
}

// The position of its closing quote, or the end of the text if there is none.
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end > 0 && isEscaped(text, start, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

function isEscaped(text: string, start: number, at: number): boolean {
  let before = at;
  while (before - 1 > start && text.charCodeAt(before - 1) === BACKSLASH) before--;
  return (at - before) % 2 === 1;
}

function nextIs(text: string, from: number, wanted: string): boolean {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at++;
  return text[at] === wanted;
}

interface Place {
  root: string;
  levels: readonly Level[];
}

function noteKey(place: Place, level: Level, keys: Set<string>, quoted: string): void {
  const key = quoted.includes('\\') ? unescaped(quoted) : quoted.slice(1, -1);
  level.key = key;
  if (key === FORBIDDEN_KEY) throw validationError([forbiddenKeyFault(pathAt(place))]);
  if (keys.has(key)) throw invalid(pathAt(place), 'must not be repeated');
  keys.add(key);
}

function pathAt({ root, levels }: Place): string {
  return levels.reduce(
    (path, { keys, key, index }) => keyPath(path, keys === null ? String(index) : key),
    root,
  );
}

function unescaped(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}
