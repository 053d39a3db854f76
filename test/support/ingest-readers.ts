// Files that `crm ingest` takes, read by its readers whole or in pieces.
import { readCalendar as calendarIn } from '../../cli/ingest/calendar/calendar-file.ts';
import { Findings, type LineFault, type ReadEntries } from '../../cli/ingest/entries.ts';
import { readBookings as bookingsIn } from '../../cli/ingest/json/bookings.ts';
import { readMeetings as meetingsIn } from '../../cli/ingest/json/meetings.ts';
import { readRecordings as recordingsIn } from '../../cli/ingest/json/recordings.ts';

export interface ReadFile<T> {
  entries: T[];
  /** In the order of their lines. */
  faults: LineFault[];
  ignored: number;
}

type Content = string | Uint8Array;

/** A content in pieces, as a file gives it. */
export async function* pieces(
  content: Content,
  chunkBytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<Uint8Array> {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  for (let from = 0; from < bytes.length; from += chunkBytes) yield bytes.subarray(from, from + chunkBytes);
}

async function read<T>(
  entriesIn: ReadEntries<T>,
  content: Content,
  chunkBytes?: number,
): Promise<ReadFile<T>> {
  const findings = new Findings();
  const entries = await Array.fromAsync(entriesIn(pieces(content, chunkBytes), 'test.json', findings));
  const faults = findings.faults.faults.sort((a, b) => a.line - b.line);
  return { entries, faults, ignored: findings.ignored };
}

export const readCalendar = (content: Content, now: number, chunkBytes?: number) =>
  read((chunks, _, findings) => calendarIn(chunks, 'test.ics', findings, now), content, chunkBytes);

export const readMeetings = (content: Content, chunkBytes?: number) => read(meetingsIn, content, chunkBytes);

export const readRecordings = (content: Content, chunkBytes?: number) =>
  read(recordingsIn, content, chunkBytes);

export const readBookings = (content: Content, chunkBytes?: number) => read(bookingsIn, content, chunkBytes);

/** A fault as `line: message`. */
export const told = ({ faults }: { faults: readonly LineFault[] }): string[] =>
  faults.map(({ line, message }) => `${line}: ${message}`);
