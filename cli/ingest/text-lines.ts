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

/** The bytes of a file without its byte order mark; throws for UTF-16. */
export async function* unmarked(chunks: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  // The start of the file, until it is long enough to decide.
  let begin: Uint8Array | null = new Uint8Array(0);
  for await (const chunk of chunks) {
    if (begin !== null) begin = Buffer.concat([begin, chunk]);
    if (begin !== null && begin.length < UTF8_MARK.length) continue;
    yield begin === null ? chunk : withoutMark(begin, name);
    begin = null;
  }
  if (begin !== null) yield withoutMark(begin, name);
}

function withoutMark(bytes: Uint8Array, name: string): Uint8Array {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    throw new CliError(`${name} is UTF-16 text, not UTF-8.`, {
      nextSteps: [`convert it: iconv -f UTF-16 -t UTF-8 ${shellWord(name)}`],
    });
  }
  return UTF8_MARK.every((byte, index) => bytes[index] === byte) ? bytes.subarray(UTF8_MARK.length) : bytes;
}

/** The lines of a file without their ends, numbered from 1: those that each piece completes. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<RawLine[]> {
  let line = 0;
  // The start of an incomplete line.
  let parts: Uint8Array[] = [];
  const next = (): RawLine => {
    const [only] = parts;
    const bytes = parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
    parts = [];
    line += 1;
    return { line, bytes: bytes.at(-1) === CR ? bytes.subarray(0, -1) : bytes };
  };
  for await (const bytes of unmarked(chunks, name)) {
    const lines: RawLine[] = [];
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      parts.push(bytes.subarray(start, end));
      lines.push(next());
      start = end + 1;
    }
    parts.push(bytes.subarray(start));
    yield lines;
  }
  if (parts.some((part) => part.length > 0)) yield [next()];
}

/** The text of bytes; null if they are not UTF-8. */
export function decodeLine(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}
