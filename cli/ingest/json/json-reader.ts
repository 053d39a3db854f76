// JSON files for ingest: an array, NDJSON or one object, read so that an invalid entry does not affect others.
import type { Data } from '../../../db/model/json.ts';
import { CliError } from '../../errors.ts';
import { completeLength } from '../../input/decode.ts';
import { JsonArrayScanner, LineScanner, parseObject, type TextPiece } from '../../input/json-pieces.ts';
import type { EntryReader, FaultList } from '../entries.ts';
import { decodeLine, NOT_UTF8, UnmarkedBytes } from '../text-lines.ts';

export interface JsonItem {
  line: number;
  value: Data;
}

interface PieceScanner {
  push(text: string): TextPiece[];
  end(): TextPiece[];
}

/** Reads the objects of a JSON file as entries; anything else, or incomplete objects, is a fault. */
export class JsonReader<T> implements EntryReader<T> {
  readonly #name: string;
  readonly #faults: FaultList;
  readonly #toEntry: (item: JsonItem) => T | undefined;
  readonly #text: MarkedText;
  #begin = '';
  #scanner: PieceScanner | null = null;

  constructor(name: string, faults: FaultList, toEntry: (item: JsonItem) => T | undefined) {
    this.#name = name;
    this.#faults = faults;
    this.#toEntry = toEntry;
    this.#text = new MarkedText(name);
  }

  push(chunk: Uint8Array): T[] {
    return this.#take(this.#text.push(chunk));
  }

  end(): T[] {
    const entries = this.#take(this.#text.end());
    if (this.#scanner === null) throw notJson(this.#name, 'the file is empty');
    return [...entries, ...this.#entriesOf(this.#scanner.end())];
  }

  #take(text: string): T[] {
    if (this.#scanner !== null) return this.#entriesOf(this.#scanner.push(text));
    this.#begin += text;
    const first = this.#begin.trimStart()[0];
    if (first === undefined) return [];
    if (first !== '[' && first !== '{') throw notJson(this.#name, 'the file does not start with [ or {');
    this.#scanner = first === '[' ? new ArrayPieces(this.#name, this.#faults) : new ObjectPieces(this.#name);
    return this.#entriesOf(this.#scanner.push(this.#begin));
  }

  #entriesOf(pieces: readonly TextPiece[]): T[] {
    return pieces.flatMap((piece) => this.#entryOf(piece) ?? []);
  }

  #entryOf({ line, text }: TextPiece): T | undefined {
    if (!text.isWellFormed()) {
      for (const [index, one] of text.split('\n').entries()) {
        if (!one.isWellFormed()) this.#faults.add(line + index, NOT_UTF8);
      }
      return undefined;
    }
    const value = parseObject(text);
    if (typeof value !== 'string') return this.#toEntry({ line, value });
    this.#faults.add(line, `the entry ${value}`);
    return undefined;
  }
}

/** Decodes bytes in pieces; the bytes of a line that is not UTF-8 become lone surrogates, which UTF-8 never yields. */
class MarkedText {
  readonly #bytes: UnmarkedBytes;
  // A character cut off at the end of a chunk.
  #tail: Uint8Array = new Uint8Array(0);

  constructor(name: string) {
    this.#bytes = new UnmarkedBytes(name);
  }

  push(chunk: Uint8Array): string {
    const bytes = Buffer.concat([this.#tail, this.#bytes.push(chunk)]);
    const end = completeLength(bytes);
    this.#tail = bytes.subarray(end);
    return markedText(bytes.subarray(0, end));
  }

  end(): string {
    return markedText(Buffer.concat([this.#tail, this.#bytes.end()]));
  }
}

function markedText(bytes: Buffer): string {
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
