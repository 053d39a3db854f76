// Splits bytes into lines, in pieces: byte order marks, CRLF and LF, and lines that are not UTF-8.
import { CliError } from '../errors.ts';
import { shellWord } from '../terminal/text.ts';

export interface RawLine {
  line: number;
  bytes: Uint8Array;
}

const LF = 0x0a;
const CR = 0x0d;
const UTF8_MARK = [0xef, 0xbb, 0xbf];
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The fault of a line that is not UTF-8. */
export const NOT_UTF8 =
  'is not UTF-8 text; if it is Latin-1, convert the file: iconv -f WINDOWS-1252 -t UTF-8';

/** Takes a file in pieces and returns them without the byte order mark; throws for UTF-16. */
export class UnmarkedBytes {
  readonly #name: string;
  // The start of the file, until it is long enough to decide.
  #begin: Uint8Array | null = new Uint8Array(0);

  constructor(name: string) {
    this.#name = name;
  }

  push(chunk: Uint8Array): Uint8Array {
    if (this.#begin === null) return chunk;
    const begin = Buffer.concat([this.#begin, chunk]);
    this.#begin = begin.length < UTF8_MARK.length ? begin : null;
    return this.#begin === null ? this.#unmarked(begin) : new Uint8Array(0);
  }

  end(): Uint8Array {
    return this.#unmarked(this.#begin ?? new Uint8Array(0));
  }

  #unmarked(bytes: Uint8Array): Uint8Array {
    if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
      throw new CliError(`${this.#name} is UTF-16 text, not UTF-8.`, {
        nextSteps: [`convert it: iconv -f UTF-16 -t UTF-8 ${shellWord(this.#name)}`],
      });
    }
    return UTF8_MARK.every((byte, index) => bytes[index] === byte) ? bytes.subarray(UTF8_MARK.length) : bytes;
  }
}

/** Takes a file in pieces and returns the complete lines, without line ends, numbered from 1. */
export class LineSplitter {
  readonly #bytes: UnmarkedBytes;
  #line = 1;
  // The start of an incomplete line.
  #parts: Uint8Array[] = [];

  constructor(name: string) {
    this.#bytes = new UnmarkedBytes(name);
  }

  push(chunk: Uint8Array): RawLine[] {
    return this.#split(this.#bytes.push(chunk));
  }

  end(): RawLine[] {
    const lines = this.#split(this.#bytes.end());
    return this.#parts.some((part) => part.length > 0) ? [...lines, this.#next()] : lines;
  }

  #split(bytes: Uint8Array): RawLine[] {
    const lines: RawLine[] = [];
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      this.#parts.push(bytes.subarray(start, end));
      lines.push(this.#next());
      start = end + 1;
    }
    this.#parts.push(bytes.subarray(start));
    return lines;
  }

  #next(): RawLine {
    const [only] = this.#parts;
    const bytes = this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts);
    this.#parts = [];
    const line = this.#line;
    this.#line += 1;
    return { line, bytes: bytes.at(-1) === CR ? bytes.subarray(0, -1) : bytes };
  }
}

/** The text of bytes; null if they are not UTF-8. */
export function decodeLine(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}
