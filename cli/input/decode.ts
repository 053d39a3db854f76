// Decodes bytes to text: by byte order mark, --encoding, or as UTF-8; invalid bytes are an error with their position.
import { CliError } from '../errors.ts';
import { refuseBinary } from './file-kinds.ts';

// Enough to recognize a file type.
const HEAD_BYTES = 512;

const MARKS: readonly (readonly [encoding: string, mark: readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];

/** Bytes that are not valid in the expected encoding; `likely` is the probable one. */
export class EncodingError extends CliError {
  readonly likely: string;

  constructor(message: string, likely: string, nextSteps: string[]) {
    super(message, { nextSteps });
    this.likely = likely;
  }
}

/** Whether the encoding is supported. */
export function isEncoding(label: string): boolean {
  try {
    return decoderOf(label).encoding !== '';
  } catch {
    return false;
  }
}

/** A decoder for an encoding by any of its names; throws for an unknown name. */
export function decoderOf(label: string, options?: { fatal: boolean; ignoreBOM: boolean }): TextDecoder {
  // Bun supports more names than its types list.
  return new TextDecoder(label as Bun.Encoding, options);
}

/**
 * The text of bytes. A byte order mark, which is removed, overrides `encoding`; the default is UTF-8.
 * @throws CliError with line and byte of the first invalid byte, or with the type of a file that is not text
 */
export async function* decodeText(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
  encoding: string | null,
): AsyncGenerator<string> {
  const { head, rest } = await peek(chunks);
  refuseBinary(head, name);
  const [marked, mark] = MARKS.find(([, bytes]) => bytes.every((byte, index) => head[index] === byte)) ?? [];
  if (marked === undefined && encoding === null) refuseUnmarkedUtf16(head, name);
  const decoder = decoderOf(marked ?? encoding ?? 'utf-8', { fatal: true, ignoreBOM: true });
  const isUtf8 = decoder.encoding === 'utf-8';
  let line = 1;
  let offset = mark?.length ?? 0;
  // A character of UTF-8 cut off at the end of a chunk, kept so that an error can report its position.
  let tail = Buffer.alloc(0);
  const decode = (bytes: Buffer, isLast: boolean): string => {
    try {
      const text = decoder.decode(bytes, { stream: !isUtf8 && !isLast });
      line += countNewlines(text);
      offset += bytes.length;
      return text;
    } catch {
      if (isUtf8) throw badByte(bytes, { name, line, offset });
      throw new EncodingError(`${name} is not ${decoder.encoding} in line ${line} or below.`, 'utf-8', [
        'set --encoding to the encoding of the file.',
      ]);
    }
  };
  async function* unmarked(): AsyncGenerator<Uint8Array> {
    yield head.subarray(mark?.length);
    yield* rest;
  }
  for await (const chunk of unmarked()) {
    const bytes = Buffer.concat([tail, chunk]);
    const end = isUtf8 ? completeLength(bytes) : bytes.length;
    tail = bytes.subarray(end);
    const text = decode(bytes.subarray(0, end), false);
    if (text !== '') yield text;
  }
  const last = decode(tail, true);
  if (last !== '') yield last;
}

async function peek(
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ head: Buffer; rest: AsyncIterable<Uint8Array> }> {
  const iterator = chunks[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (head.length < HEAD_BYTES) {
    const { value, done } = await iterator.next();
    if (done) break;
    head = Buffer.concat([head, value]);
  }
  return { head, rest: { [Symbol.asyncIterator]: () => iterator } };
}

function refuseUnmarkedUtf16(head: Buffer, name: string): void {
  const encoding = head[0] === 0 ? 'utf-16be' : head[1] === 0 ? 'utf-16le' : undefined;
  if (encoding === undefined) return;
  const message = `${name} is not UTF-8. It seems to be UTF-16 without a byte order mark.`;
  throw new EncodingError(message, encoding, []);
}

function badByte(bytes: Buffer, place: { name: string; line: number; offset: number }): EncodingError {
  const at = invalidIndex(bytes);
  const line = place.line + countNewlines(bytes.subarray(0, at).toString('utf8'));
  const hex = `0x${(bytes[at] ?? 0).toString(16).toUpperCase().padStart(2, '0')}`;
  const character = new TextDecoder('windows-1252').decode(bytes.subarray(at, at + 1));
  return new EncodingError(
    `${place.name} is not UTF-8: line ${line}, byte ${place.offset + at + 1} of the file is ${hex}, which is "${character}" in Windows-1252.`,
    'windows-1252',
    [
      'or set --encoding to another encoding. Most files from Excel, Outlook and Salesforce use Windows-1252.',
      'or save the file as "CSV UTF-8" in the program that wrote it.',
    ],
  );
}

/** How many bytes of a chunk make whole characters; the rest belongs to a character that continues in the next chunk. */
export function completeLength(bytes: Buffer): number {
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

// The decoder writes U+FFFD for what is invalid, but valid text may contain that character too.
function invalidIndex(bytes: Buffer): number {
  let at = 0;
  for (const valid of new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes).split('\ufffd')) {
    at += Buffer.byteLength(valid);
    if (bytes.indexOf('\ufffd', at) !== at) return at;
    at += 3;
  }
  return 0;
}

function countNewlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
