// Opens the file that `crm ingest` reads, and detects its format.
import { extname } from 'node:path';
import { usageError } from '../errors.ts';
import { inputChunks, inputName, unreadable } from '../input/files.ts';

export type IngestFormat = 'ics' | 'json' | 'vtt';

export interface IngestSource {
  /** Its name in messages. */
  name: string;
  format: IngestFormat;
  chunks: AsyncIterable<Uint8Array>;
  /** The fraction read, from 0 to 1; undefined if the length is unknown. */
  share(): number | undefined;
}

const EXTENSIONS: Record<string, IngestFormat> = {
  '.ics': 'ics',
  '.ical': 'ics',
  '.ifb': 'ics',
  '.json': 'json',
  '.ndjson': 'json',
  '.jsonl': 'json',
  '.vtt': 'vtt',
};
const BEGINNINGS: readonly [RegExp, IngestFormat][] = [
  [/^BEGIN:VCALENDAR/i, 'ics'],
  [/^WEBVTT/, 'vtt'],
  [/^[[{]/, 'json'],
];

/**
 * Opens a file, or stdin for `-`. The format is the requested one, else detected from name or content.
 * @throws CliError if it cannot be read, or its format does not fit
 */
export async function openIngestFile(
  path: string,
  asked: IngestFormat | undefined,
  fitting: readonly IngestFormat[],
): Promise<IngestSource> {
  const name = inputName(path);
  const input = readable(path);
  const first = await input.next();
  const begin = first.done ? new Uint8Array(0) : first.value;
  const format = asked ?? EXTENSIONS[extname(path).toLowerCase()] ?? formatOf(begin);
  if (format === undefined) {
    throw usageError(`Unknown format of ${name}.`, `add --format ${fitting.join(' or --format ')}.`);
  }
  if (!fitting.includes(format)) {
    throw usageError(
      `${name} is ${format}, which this command does not support.`,
      `use a file in ${fitting.join(' or ')} format, or add --format if its name is wrong.`,
    );
  }
  // Bun calls that of a pipe infinite.
  const size = path === '-' ? Number.POSITIVE_INFINITY : Bun.file(path).size;
  let read = 0;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield begin;
    for await (const chunk of input) {
      read += chunk.length;
      yield chunk;
    }
  }
  return {
    name,
    format,
    chunks: chunks(),
    share: () => (Number.isFinite(size) && size > 0 ? (begin.length + read) / size : undefined),
  };
}

async function* readable(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* inputChunks(path);
  } catch (error) {
    throw unreadable(path, error);
  }
}

function formatOf(begin: Uint8Array): IngestFormat | undefined {
  const start = new TextDecoder().decode(begin.subarray(0, 200)).trimStart();
  return BEGINNINGS.find(([pattern]) => pattern.test(start))?.[1];
}
