// Reads a file line by line, a piece at a time.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const PIECE_BYTES = 64 * 1024;

/** The lines of a UTF-8 file; only a line feed ends a line. */
export async function* fileLines(path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of Bun.file(path).stream()) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

/** The lines of a UTF-8 file, the last one first, without blank lines. */
export function* linesFromEnd(path: string): Generator<string> {
  const descriptor = openSync(path, 'r');
  try {
    let end = fstatSync(descriptor).size;
    let rest = Buffer.alloc(0);
    while (end > 0) {
      const size = Math.min(PIECE_BYTES, end);
      end -= size;
      const piece = Buffer.alloc(size);
      readSync(descriptor, piece, 0, size, end);
      const bytes = Buffer.concat([piece, rest]);
      const first = end === 0 ? -1 : bytes.indexOf(0x0a);
      // Text before the first line feed may be the end of a line that starts in the previous piece.
      rest = end === 0 ? Buffer.alloc(0) : first < 0 ? bytes : bytes.subarray(0, first);
      const whole = end === 0 ? bytes : first < 0 ? Buffer.alloc(0) : bytes.subarray(first + 1);
      const lines = whole.toString('utf8').split('\n').reverse();
      for (const line of lines) if (line.trim() !== '') yield line;
    }
  } finally {
    closeSync(descriptor);
  }
}
