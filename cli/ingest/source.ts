// The file that `crm ingest` reads, and which of its formats it is in.
import { extname } from 'node:path';
import { usageError } from '../errors.ts';
import { inputName, readInput } from '../input/files.ts';

export type IngestFormat = 'ics' | 'json' | 'vtt';

export interface IngestSource {
  /** What messages call it. */
  name: string;
  bytes: Uint8Array;
  format: IngestFormat;
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
 * Reads a file, or stdin for `-`. Its format is the one asked for, else follows from its name or beginning.
 * @throws CliError if it cannot be read, or its format is not among those that fit
 */
export async function readSource(
  path: string,
  asked: IngestFormat | undefined,
  fitting: readonly IngestFormat[],
): Promise<IngestSource> {
  const name = inputName(path);
  const bytes = await readInput(path);
  const format = asked ?? EXTENSIONS[extname(path).toLowerCase()] ?? formatOf(bytes);
  if (format === undefined) {
    throw usageError(`It is not clear what ${name} holds.`, `say --format ${fitting.join(' or --format ')}.`);
  }
  if (fitting.includes(format)) return { name, bytes, format };
  throw usageError(
    `${name} is ${format}, which cannot be ingested here.`,
    `give a file in ${fitting.join(' or ')}, or say --format if its name is wrong.`,
  );
}

function formatOf(bytes: Uint8Array): IngestFormat | undefined {
  const start = new TextDecoder().decode(bytes.subarray(0, 200)).trimStart();
  return BEGINNINGS.find(([pattern]) => pattern.test(start))?.[1];
}
