// Bytes to lines: byte order marks, CRLF and LF, and the lines that are not UTF-8.
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

/** What a fault says of a line that is not UTF-8. */
export const NOT_UTF8 =
  'is not UTF-8 text; if it is Latin-1, convert the file: iconv -f WINDOWS-1252 -t UTF-8';

/** The lines of a file without their ends, numbered from 1; a UTF-16 file is refused. */
export function splitLines(bytes: Uint8Array, name: string): RawLine[] {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    throw new CliError(`${name} is UTF-16 text, not UTF-8.`, {
      nextSteps: [`convert it: iconv -f UTF-16 -t UTF-8 ${shellWord(name)}`],
    });
  }
  const lines: RawLine[] = [];
  let start = UTF8_MARK.every((byte, index) => bytes[index] === byte) ? UTF8_MARK.length : 0;
  while (start < bytes.length) {
    const found = bytes.indexOf(LF, start);
    const next = found === -1 ? bytes.length : found;
    const end = next > start && bytes[next - 1] === CR ? next - 1 : next;
    lines.push({ line: lines.length + 1, bytes: bytes.subarray(start, end) });
    start = next + 1;
  }
  return lines;
}

/** The text of bytes; null if they are not UTF-8. */
export function decodeLine(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

/** The lines of a file as text; those that are not UTF-8 are listed and stand in it with replaced characters. */
export function textLines(bytes: Uint8Array, name: string): { lines: string[]; badLines: number[] } {
  const lossy = new TextDecoder('utf-8', { ignoreBOM: true });
  const badLines: number[] = [];
  const lines = splitLines(bytes, name).map((raw) => {
    const text = decodeLine(raw.bytes);
    if (text === null) badLines.push(raw.line);
    return text ?? lossy.decode(raw.bytes);
  });
  return { lines, badLines };
}
