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

interface PieceScanner {
  push(text: string): TextPiece[];
  end(): TextPiece[];
}

/** The entries that `toEntry` makes of the objects in a JSON file; anything else, or incomplete objects, is a fault. */
export async function* readJson<T>(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
  faults: FaultList,
  toEntry: (item: JsonItem) => T | undefined,
): AsyncGenerator<T> {
  const entriesOf = (pieces: readonly TextPiece[]): T[] =>
    pieces.flatMap((piece) => {
      const value = objectIn(piece, faults);
      return (value && toEntry({ line: piece.line, value })) ?? [];
    });
  let begin = '';
  let scanner: PieceScanner | null = null;
  for await (const text of markedText(chunks, name)) {
    if (scanner !== null) {
      yield* entriesOf(scanner.push(text));
      continue;
    }
    begin += text;
    const first = begin.trimStart()[0];
    if (first === undefined) continue;
    if (first !== '[' && first !== '{') throw notJson(name, 'the file does not start with [ or {');
    scanner = first === '[' ? new ArrayPieces(name, faults) : new ObjectPieces(name);
    yield* entriesOf(scanner.push(begin));
  }
  if (scanner === null) throw notJson(name, 'the file is empty');
  yield* entriesOf(scanner.end());
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
class ArrayPieces implements PieceScanner {
  readonly #scanner: JsonArrayScanner;
  readonly #faults: FaultList;
  #isBroken = false;

  constructor(name: string, faults: FaultList) {
    this.#scanner = new JsonArrayScanner(name);
    this.#faults = faults;
  }

  push(text: string): TextPiece[] {
    // Line by line, so that the elements before a fault are kept.
    return text.split(/(?<=\n)/).flatMap((line) => this.#attempt(() => this.#scanner.push(line)));
  }

  end(): TextPiece[] {
    return this.#attempt(() => this.#scanner.end());
  }

  #attempt(scan: () => TextPiece[]): TextPiece[] {
    if (this.#isBroken) return [];
    try {
      return scan();
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      this.#isBroken = true;
      this.#faults.add(Number(/\bline (\d+)/.exec(error.message)?.[1] ?? 1), error.message);
      return [];
    }
  }
}

// Longer than an object may be: with this much text, it is not one object over many lines.
const UNSURE_CHARACTERS_MAX = 16 * 1024 * 1024;

/** One object per line, or a single one over many lines. */
class ObjectPieces implements PieceScanner {
  readonly #lines: LineScanner;
  // All text, as long as the first line may be the start of a single object.
  #unsure: string | null = '';

  constructor(name: string) {
    this.#lines = new LineScanner(name);
  }

  push(text: string): TextPiece[] {
    if (this.#unsure === null) return this.#lines.push(text);
    this.#unsure += text;
    const [, first] = /^\s*(.*)\n/.exec(this.#unsure) ?? [];
    const isSure = first !== undefined && isJson(first);
    return isSure || this.#unsure.length > UNSURE_CHARACTERS_MAX ? this.#settle() : [];
  }

  end(): TextPiece[] {
    const whole = this.#unsure ?? '';
    if (whole.trim().includes('\n') && isJson(whole)) {
      const blank = whole.slice(0, whole.length - whole.trimStart().length);
      return [{ line: blank.split('\n').length, text: whole.trim() }];
    }
    return [...this.#settle(), ...this.#lines.end()];
  }

  #settle(): TextPiece[] {
    const text = this.#unsure ?? '';
    this.#unsure = null;
    return this.#lines.push(text);
  }
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
