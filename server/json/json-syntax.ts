// Finds where a text stops being JSON that can be kept: JSON.parse tells no place, and drops repeated keys silently.
import { forbiddenKeyFault, keyPath } from '../../db/model/faults.ts';
import { isObject, type JsonValue } from '../../db/model/json.ts';
import { type ApiError, invalid, validationError } from '../errors.ts';
import { NESTING_MAX, VALUES_MAX } from './json-scan.ts';

/** The first syntax error of a text: its position in UTF-16 units, what was expected, and what was found. */
export interface SyntaxFault {
  at: number;
  expected: string;
  found: string;
}

const FORBIDDEN_KEY = '__proto__';
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SHORT_ESCAPES = new Set(['"', '\\', '/', 'b', 'f', 'n', 'r', 't']);
const HEX_DIGITS = 4;
const LITERALS = ['true', 'false', 'null'];

const LF = 0x0a;
const CR = 0x0d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

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

/** The 422 for a body with too many levels or values. */
export function structureLimitError(what: 'levels' | 'values'): ApiError {
  const message =
    what === 'levels'
      ? `The body must not be nested deeper than ${NESTING_MAX} levels.`
      : `The body must not have more than ${VALUES_MAX} values.`;
  return invalid('', message, 'VALIDATION_OUT_OF_RANGE');
}

/**
 * The first syntax error of a text; undefined if it is valid JSON.
 * @param root the path of the text, if it is an element of the body
 * @throws ApiError 422 for a repeated key, `__proto__` or too deep nesting before that
 */
export function findSyntaxFault(text: string, root = ''): SyntaxFault | undefined {
  return new JsonWalk(text, root).findFault((after) => (after === undefined ? null : 'the end of the body'));
}

/** The same for an element of an array: the text starts after the bracket or comma before it and includes the one after. */
export function findElementFault(text: string, root: string): SyntaxFault | undefined {
  return new JsonWalk(text, root).findFault((after) =>
    after === ',' || after === ']' ? null : 'a comma or ]',
  );
}

class Unexpected extends Error {
  readonly at: number;
  readonly expected: string;

  constructor(at: number, expected: string) {
    super(expected);
    this.at = at;
    this.expected = expected;
  }
}

/** Goes through a text as a JSON reader does, without making values of it. */
class JsonWalk {
  readonly #text: string;
  readonly #root: string;
  /** The keys and indices that lead to the current value. */
  readonly #path: string[] = [];
  #at = 0;

  constructor(text: string, root: string) {
    this.#text = text;
    this.#root = root;
  }

  /** @param expectedAfter returns what is expected instead of the character after the value, null if that is right */
  findFault(expectedAfter: (char: string | undefined) => string | null): SyntaxFault | undefined {
    try {
      this.#skipSpace();
      this.#readValue();
      this.#skipSpace();
      const expected = expectedAfter(this.#text[this.#at]);
      if (expected !== null) throw new Unexpected(this.#at, expected);
      return undefined;
    } catch (error) {
      if (!(error instanceof Unexpected)) throw error;
      const { at, expected } = error;
      return { at, expected, found: characterAt(this.#text, at) };
    }
  }

  #readValue(): void {
    const char = this.#text[this.#at] ?? '';
    if (char === '{') this.#readObject();
    else if (char === '[') this.#readMembers(']', (index) => this.#readBelow(String(index)));
    else if (char === '"') this.#readString();
    else this.#readScalar(LITERALS.find((one) => one[0] === char));
  }

  #readScalar(literal: string | undefined): void {
    if (literal !== undefined) {
      for (const char of literal) if (!this.#skip(char)) throw new Unexpected(this.#at, literal);
      return;
    }
    NUMBER.lastIndex = this.#at;
    if (!NUMBER.test(this.#text)) throw new Unexpected(this.#at, 'a value');
    this.#at = NUMBER.lastIndex;
  }

  #readObject(): void {
    const keys = new Set<string>();
    this.#readMembers('}', () => {
      const start = this.#at;
      if (this.#text[start] !== '"') throw new Unexpected(start, 'a key in double quotes');
      this.#readString();
      const key = String(JSON.parse(this.#text.slice(start, this.#at)));
      this.#skipSpace();
      if (!this.#skip(':')) throw new Unexpected(this.#at, ':');
      if (key === FORBIDDEN_KEY) throw validationError([forbiddenKeyFault(this.#pathOf(key))]);
      if (keys.has(key)) throw invalid(this.#pathOf(key), 'must not be repeated');
      keys.add(key);
      this.#skipSpace();
      this.#readBelow(key);
    });
  }

  #readMembers(closing: string, readMember: (index: number) => void): void {
    if (this.#path.length === NESTING_MAX) throw structureLimitError('levels');
    this.#at += 1;
    this.#skipSpace();
    if (this.#skip(closing)) return;
    for (let index = 0; ; index++) {
      readMember(index);
      this.#skipSpace();
      if (this.#skip(closing)) return;
      if (!this.#skip(',')) throw new Unexpected(this.#at, `a comma or ${closing}`);
      this.#skipSpace();
    }
  }

  #readBelow(key: string): void {
    this.#path.push(key);
    this.#readValue();
    this.#path.pop();
  }

  #pathOf(key: string): string {
    return [...this.#path, key].reduce(keyPath, this.#root);
  }

  #readString(): void {
    const text = this.#text;
    for (let at = this.#at + 1; at < text.length; at++) {
      const char = text.charCodeAt(at);
      if (char === QUOTE) {
        this.#at = at + 1;
        return;
      }
      if (char < 0x20) throw unfinished(at);
      if (char !== BACKSLASH) continue;
      const end = escapeEnd(text, at);
      if (end === at) throw new Unexpected(at + 1, 'a valid JSON escape sequence');
      at = end - 1;
    }
    throw unfinished(text.length);
  }

  // Whether that character is next; it is then passed.
  #skip(char: string): boolean {
    if (this.#text[this.#at] !== char) return false;
    this.#at += 1;
    return true;
  }

  #skipSpace(): void {
    for (; this.#at < this.#text.length; this.#at++) {
      const char = this.#text.charCodeAt(this.#at);
      if (char !== 0x20 && char !== LF && char !== CR && char !== 0x09) break;
    }
  }
}

function unfinished(at: number): Unexpected {
  return new Unexpected(at, 'the rest of the string and its closing double quote');
}

// Where the escape sequence ends; the start if it is not valid. Not a regular expression: a text can consist of them.
function escapeEnd(text: string, at: number): number {
  const kind = text[at + 1] ?? '';
  if (kind !== 'u') return SHORT_ESCAPES.has(kind) ? at + 2 : at;
  const end = at + 2 + HEX_DIGITS;
  for (let place = at + 2; place < end; place++) if (!isHexDigit(text.charCodeAt(place))) return at;
  return end;
}

function isHexDigit(char: number): boolean {
  const lower = char | 0x20;
  return (char >= 0x30 && char <= 0x39) || (lower >= 0x61 && lower <= 0x66);
}

/** A position in UTF-8 bytes as line and column, counted from 1 in code points; `advance` moves it. */
export class TextPlace {
  line = 1;
  column = 1;

  /** Moves over the bytes from one position to another. */
  advance(bytes: Uint8Array, from: number, to: number): this {
    let { line, column } = this;
    for (let at = from; at < to; at++) {
      const byte = bytes[at] as number;
      if (byte === LF) {
        if (bytes[at - 1] !== CR) line++;
        column = 1;
      } else if (byte === CR) {
        line++;
        column = 1;
      } else if ((byte & 0xc0) !== 0x80) column++;
    }
    this.line = line;
    this.column = column;
    return this;
  }
}

/** The character at a position of a text, for error messages. */
export function characterAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  if (code === undefined) return 'the end of the body';
  const isVisible =
    code > 0x20 && !(code >= 0x7f && code < 0xa0) && !/\p{C}|\p{Z}/u.test(text.slice(at, at + 2));
  return isVisible ? String.fromCodePoint(code) : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}
