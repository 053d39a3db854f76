// Bytes to text: UTF-8 or a clear refusal that names the place, never a mangled character.
import { join, parse } from 'node:path';
import { CliError } from '../errors.ts';
import { shellWord } from '../terminal/text.ts';
import { inputName } from './files.ts';

const UTF16_MARKS: readonly (readonly number[])[] = [
  [0xff, 0xfe],
  [0xfe, 0xff],
];

/** Text of UTF-8 bytes, without the byte order mark; throws a CliError with line and byte of the first fault. */
export async function* decodeUtf8(chunks: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let tail = Buffer.alloc(0);
  let line = 1;
  let offset = 0;
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([tail, chunk]);
    if (offset === 0) {
      if (bytes.length < 2) {
        tail = bytes;
        continue;
      }
      refuseUtf16(bytes, name);
    }
    const end = completeLength(bytes);
    const decoded = decodeOrRefuse(decoder, bytes.subarray(0, end), { name, line, offset });
    const text = offset === 0 ? decoded.replace(/^\ufeff/, '') : decoded;
    line += countNewlines(text);
    offset += end;
    tail = bytes.subarray(end);
    if (text !== '') yield text;
  }
  if (tail.length > 0) yield decodeOrRefuse(decoder, tail, { name, line, offset });
}

function decodeOrRefuse(
  decoder: TextDecoder,
  bytes: Buffer,
  place: { name: string; line: number; offset: number },
): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw badByte(bytes, place);
  }
}

function refuseUtf16(bytes: Buffer, name: string): void {
  const isMarked = UTF16_MARKS.some((mark) => mark.every((byte, index) => bytes[index] === byte));
  const hasZero = bytes[0] === 0 || bytes[1] === 0;
  if (!isMarked && !hasZero) return;
  throw new CliError(
    `${name} is UTF-16 text${isMarked ? ' (its byte order mark says so)' : ''}, not UTF-8.`,
    {
      nextSteps: [conversion('UTF-16', name), 'or save it as "CSV UTF-8" in the program it comes from.'],
    },
  );
}

function badByte(bytes: Buffer, place: { name: string; line: number; offset: number }): CliError {
  const at = Math.max(0, invalidIndex(bytes));
  const before = bytes.subarray(0, at).toString('utf8');
  const line = place.line + countNewlines(before);
  const byte = bytes[at] ?? 0;
  const hex = `0x${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  const character = new TextDecoder('windows-1252').decode(bytes.subarray(at, at + 1));
  return new CliError(
    `${place.name} is not UTF-8: line ${line}, byte ${place.offset + at + 1} of the file is ${hex} ("${character}" in Latin-1).`,
    {
      nextSteps: [
        conversion('WINDOWS-1252', place.name),
        'or save it as "CSV UTF-8" in the program it comes from.',
      ],
    },
  );
}

function conversion(from: string, name: string): string {
  const file = name === inputName('-') ? 'FILE' : name;
  const { dir, name: stem, ext } = parse(file);
  const converted = join(dir, `${stem}.utf8${ext}`);
  return `convert it: iconv -f ${from} -t UTF-8 ${shellWord(file)} > ${shellWord(converted)}`;
}

/** How many bytes of a chunk make whole characters; a character cut off at the end waits for the next chunk. */
function completeLength(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return back < sequenceLength(byte) ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function sequenceLength(lead: number): number {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

function invalidIndex(bytes: Buffer): number {
  for (let index = 0; index < bytes.length; ) {
    const length = sequenceLength(bytes[index] ?? 0);
    const sequence = bytes.subarray(index, index + length);
    if (length === 0 || sequence.length < length || !isValid(sequence)) return index;
    index += length;
  }
  return -1;
}

function isValid(sequence: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(sequence);
    return true;
  } catch {
    return false;
  }
}

function countNewlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
