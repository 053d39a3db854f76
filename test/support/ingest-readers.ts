// Files that `crm ingest` takes, read by its readers whole or in pieces.
import { CalendarReader } from '../../cli/ingest/calendar/calendar-file.ts';
import { type EntryReader, Findings, type LineFault } from '../../cli/ingest/entries.ts';
import { bookingsReader } from '../../cli/ingest/json/bookings.ts';
import { meetingsReader } from '../../cli/ingest/json/meetings.ts';
import { recordingsReader } from '../../cli/ingest/json/recordings.ts';

export interface ReadFile<T> {
  entries: T[];
  /** In the order of their lines. */
  faults: LineFault[];
  ignored: number;
}

type Content = string | Uint8Array;

function read<T>(
  open: (findings: Findings) => EntryReader<T>,
  content: Content,
  chunkBytes = Number.POSITIVE_INFINITY,
): ReadFile<T> {
  const findings = new Findings();
  const reader = open(findings);
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  const entries: T[] = [];
  for (let from = 0; from < bytes.length; from += chunkBytes) {
    entries.push(...reader.push(bytes.subarray(from, from + chunkBytes)));
  }
  entries.push(...reader.end());
  const faults = findings.faults.faults.sort((a, b) => a.line - b.line);
  return { entries, faults, ignored: findings.ignored };
}

export const readCalendar = (content: Content, now: number, chunkBytes?: number) =>
  read((findings) => new CalendarReader('test.ics', findings, now), content, chunkBytes);

export const readMeetings = (content: Content, chunkBytes?: number) =>
  read((findings) => meetingsReader('test.json', findings), content, chunkBytes);

export const readRecordings = (content: Content, chunkBytes?: number) =>
  read((findings) => recordingsReader('test.json', findings), content, chunkBytes);

export const readBookings = (content: Content, chunkBytes?: number) =>
  read((findings) => bookingsReader('test.json', findings), content, chunkBytes);

/** A fault as `line: message`. */
export const told = ({ faults }: { faults: readonly LineFault[] }): string[] =>
  faults.map(({ line, message }) => `${line}: ${message}`);
