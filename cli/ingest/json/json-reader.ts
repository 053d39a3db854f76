// JSON files for ingest: an array, NDJSON or one object, read so that an invalid entry does not affect others.
import type { Data } from '../../../db/model/json.ts';
import { CliError } from '../../errors.ts';
import { completeLength } from '../../input/decode.ts';
import { JsonArrayScanner, LineScanner, parseObject, type TextPiece } from '../../input/json-pieces.ts';
import type { FaultList } from '../entries.ts';
import { decodeLine, NOT_UTF8, unmarked } from '../text-lines.ts';

export interface JsonItem {
  line: number;
  value: Data;
}

/** The entries that `toEntry` makes of the objects in a JSON file; anything else, or incomplete objects, is a fault. */
export async function* readJson<T>(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
  faults: FaultList,
  toEntry: (item: JsonItem) => T | undefined,
): AsyncGenerator<T> {
  const texts = markedText(chunks, name);
  let begin = '';
  while (begin.trim() === '') {
    const next = await texts.next();
    if (next.done) throw notJson(name, 'the file is empty');
    begin += next.value;
  }
  const first = begin.trimStart()[0];
  if (first !== '[' && first !== '{') throw notJson(name, 'the file does not start with [ or {');
  async function* all(): AsyncGenerator<string> {
    yield begin;
    yield* texts;
  }
  const found = first === '[' ? elementsOf(all(), name, faults) : objectsOf(all(), name);
  for await (const pieces of found) {
    for (const piece of pieces) {
      const value = objectIn(piece, faults);
      const entry = value && toEntry({ line: piece.line, value });
      if (entry !== undefined) yield entry;
    }
  }
}

function objectIn({ line, text }: TextPiece, faults: FaultList): Data | undefined {
  if (!text.isWellFormed()) {
    for (const [index, one] of text.split('\n').entries()) {
      if (!one.isWellFormed()) faults.add(line + index, NOT_UTF8);
    }
    return undefined;
  }
  const value = parseObject(text);
  if (typeof value !== 'string') return value;
  faults.add(line, `the entry ${value}`);
  return undefined;
}

/** The text of a file; the bytes of a line that is not UTF-8 become lone surrogates, which UTF-8 never yields. */
async function* markedText(chunks: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<string> {
  // A character cut off at the end of a piece.
  let tail: Uint8Array = new Uint8Array(0);
  for await (const chunk of unmarked(chunks, name)) {
    const bytes = Buffer.concat([tail, chunk]);
    const end = completeLength(bytes);
    tail = bytes.subarray(end);
    yield textOf(bytes.subarray(0, end));
  }
  yield textOf(Buffer.from(tail));
}

function textOf(bytes: Buffer): string {
  const text = decodeLine(bytes);
  if (text !== null) return text;
  const lines = bytes.toString('latin1').split('\n');
  return lines
    .map((line) => decodeLine(Buffer.from(line, 'latin1')) ?? line.replace(/[^\0-\x7f]/g, loneSurrogate))
    .join('\n');
}

function loneSurrogate(byte: string): string {
  return String.fromCharCode(0xdc00 + byte.charCodeAt(0));
}

/** The elements of an array, up to the first syntax error of the array. */
async function* elementsOf(
  texts: AsyncIterable<string>,
  name: string,
  faults: FaultList,
): AsyncGenerator<TextPiece[]> {
  const scanner = new JsonArrayScanner(name);
  const isSound = (scan: () => void): boolean => {
    try {
      scan();
      return true;
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      faults.add(Number(/\bline (\d+)/.exec(error.message)?.[1] ?? 1), error.message);
      return false;
    }
  };
  for await (const text of texts) {
    const pieces: TextPiece[] = [];
    // Line by line, so that the elements before a fault are kept.
    const isWhole = isSound(() => {
      for (const line of text.split(/(?<=\n)/)) pieces.push(...scanner.push(line));
    });
    yield pieces;
    if (!isWhole) return;
  }
  isSound(() => scanner.end());
}

// Longer than an object may be: with this much text, it is not one object over many lines.
const UNSURE_CHARACTERS_MAX = 16 * 1024 * 1024;

/** One object per line, or a single one over many lines. */
async function* objectsOf(texts: AsyncIterable<string>, name: string): AsyncGenerator<TextPiece[]> {
  const lines = new LineScanner(name);
  // All text, as long as the first line may be the start of a single object.
  let unsure: string | null = '';
  for await (const text of texts) {
    if (unsure === null) {
      yield lines.push(text);
      continue;
    }
    unsure += text;
    const [, first] = /^\s*(.*)\n/.exec(unsure) ?? [];
    const isSure = first !== undefined && isJson(first);
    if (!isSure && unsure.length <= UNSURE_CHARACTERS_MAX) continue;
    yield lines.push(unsure);
    unsure = null;
  }
  const whole = unsure ?? '';
  if (whole.trim().includes('\n') && isJson(whole)) {
    const blank = whole.slice(0, whole.length - whole.trimStart().length);
    yield [{ line: blank.split('\n').length, text: whole.trim() }];
    return;
  }
  yield lines.push(whole);
  yield lines.end();
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function notJson(name: string, reason: string): CliError {
  return new CliError(`${name} is not valid JSON: ${reason}.`, {
    nextSteps: ['use an array [{…}, {…}], or one object per line.'],
  });
}
