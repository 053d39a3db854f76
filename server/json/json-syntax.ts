// Finds where a text stops being JSON, for error messages: JSON.parse reports no line and quotes the content.

/** The first syntax error of a text: its position in UTF-16 units, what was expected, and what was found. */
export interface SyntaxFault {
  at: number;
  expected: string;
  found: string;
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SHORT_ESCAPES = new Set(['"', '\\', '/', 'b', 'f', 'n', 'r', 't']);
const HEX_DIGITS = 4;
const LITERALS: Readonly<Record<string, string>> = { t: 'true', f: 'false', n: 'null' };

const LF = 0x0a;
const CR = 0x0d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

class Unexpected extends Error {
  readonly at: number;
  readonly expected: string;

  constructor(at: number, expected: string) {
    super(expected);
    this.at = at;
    this.expected = expected;
  }
}

/** The first syntax error of a text; undefined if it is valid JSON. Its nesting must be bounded. */
export function findSyntaxFault(text: string): SyntaxFault | undefined {
  return faultIn(text, () => {
    const end = skipSpace(text, readValue(text, skipSpace(text, 0)));
    if (end < text.length) throw new Unexpected(end, 'the end of the body');
  });
}

/** The same for an element of an array: the text starts after the bracket or comma before it and includes the one after. */
export function findElementFault(text: string): SyntaxFault | undefined {
  return faultIn(text, () => {
    const end = skipSpace(text, readValue(text, skipSpace(text, 0)));
    if (text[end] !== ',' && text[end] !== ']') throw new Unexpected(end, 'a comma or ]');
  });
}

function faultIn(text: string, read: () => void): SyntaxFault | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (!(error instanceof Unexpected)) throw error;
    return { at: error.at, expected: error.expected, found: characterAt(text, error.at) };
  }
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

// Where the match of a sticky pattern ends; the start if there is none.
function skip(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : from;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char !== 0x20 && char !== LF && char !== CR && char !== 0x09) break;
  }
  return at;
}

function readValue(text: string, at: number): number {
  const char = text[at];
  if (char === '{') return readMembers(text, at, '}', readMember);
  if (char === '[') return readMembers(text, at, ']', readValue);
  if (char === '"') return readString(text, at);
  const literal = LITERALS[char ?? ''];
  if (literal !== undefined) return readLiteral(text, at, literal);
  const end = skip(NUMBER, text, at);
  if (end === at) throw new Unexpected(at, 'a value');
  return end;
}

function readMembers(
  text: string,
  start: number,
  closing: string,
  read: (text: string, at: number) => number,
): number {
  let at = skipSpace(text, start + 1);
  if (text[at] === closing) return at + 1;
  for (;;) {
    at = skipSpace(text, read(text, at));
    if (text[at] === closing) return at + 1;
    if (text[at] !== ',') throw new Unexpected(at, `a comma or ${closing}`);
    at = skipSpace(text, at + 1);
  }
}

function readMember(text: string, start: number): number {
  if (text[start] !== '"') throw new Unexpected(start, 'a key in double quotes');
  const at = skipSpace(text, readString(text, start));
  if (text[at] !== ':') throw new Unexpected(at, ':');
  return readValue(text, skipSpace(text, at + 1));
}

function readString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) return at + 1;
    if (char < 0x20) throw unfinished(at);
    if (char !== BACKSLASH) continue;
    const end = escapeEnd(text, at);
    if (end === at) throw new Unexpected(at + 1, 'a valid JSON escape sequence');
    at = end - 1;
  }
  throw unfinished(text.length);
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

function readLiteral(text: string, start: number, literal: string): number {
  for (let index = 0; index < literal.length; index += 1) {
    if (text[start + index] !== literal[index]) throw new Unexpected(start + index, literal);
  }
  return start + literal.length;
}
