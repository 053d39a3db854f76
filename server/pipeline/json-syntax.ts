// Where a text stops being JSON, for people: JSON.parse itself tells no line, and quotes what it should not.

/** The first fault of a text: its place, counted from 1 in code points, what was expected there, and what stands there. */
export interface SyntaxFault {
  line: number;
  column: number;
  expected: string;
  found: string;
}

const WHITE_SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const PLAIN = /[ !#-[\]-\uffff]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
const LITERALS: Readonly<Record<string, string>> = { t: 'true', f: 'false', n: 'null' };

class Unexpected extends Error {
  readonly at: number;
  readonly expected: string;

  constructor(at: number, expected: string) {
    super(expected);
    this.at = at;
    this.expected = expected;
  }
}

/** The first fault of a text that JSON.parse refuses; undefined if it is JSON. Its nesting must be bounded already. */
export function findSyntaxFault(text: string): SyntaxFault | undefined {
  try {
    const end = skipSpace(text, readValue(text, skipSpace(text, 0)));
    if (end < text.length) throw new Unexpected(end, 'the end of the body');
    return undefined;
  } catch (error) {
    if (!(error instanceof Unexpected)) throw error;
    return { ...placeOf(text, error.at), expected: error.expected, found: shownAt(text, error.at) };
  }
}

function placeOf(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at).split(/\r\n|\n|\r/);
  return { line: before.length, column: [...(before.at(-1) ?? '')].length + 1 };
}

function shownAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  if (code === undefined) return 'the end of the body';
  const isVisible =
    code > 0x20 && !(code >= 0x7f && code < 0xa0) && !/\p{C}|\p{Z}/u.test(text.slice(at, at + 2));
  return isVisible ? String.fromCodePoint(code) : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

// Where the match of a sticky pattern ends; where it begins if there is none.
function skip(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : from;
}

function skipSpace(text: string, from: number): number {
  return skip(WHITE_SPACE, text, from);
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
    if (text[at] !== ',') throw new Unexpected(at, `, or ${closing}`);
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
  let at = start + 1;
  for (;;) {
    at = skip(PLAIN, text, at);
    if (text[at] === '"') return at + 1;
    if (text[at] !== '\\') throw new Unexpected(at, 'the rest of a string and its closing double quote');
    const end = skip(ESCAPE, text, at);
    if (end === at) throw new Unexpected(at + 1, 'one of the escapes that JSON has');
    at = end;
  }
}

function readLiteral(text: string, start: number, literal: string): number {
  for (let index = 0; index < literal.length; index += 1) {
    if (text[start + index] !== literal[index]) throw new Unexpected(start + index, literal);
  }
  return start + literal.length;
}
