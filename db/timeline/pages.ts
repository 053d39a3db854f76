// Reads timelines: one range of the key for each kind of entry, so that a page takes the same time in any, and updates of the log.

import { type RawBuilder, sql } from 'kysely';
import { BoundedMap } from '../cache.ts';
import type { Eventually } from '../engine/engine.ts';
import type { Db } from '../engine/schema.ts';
import { type Param, type Statement, statement, written } from '../engine/statement.ts';
import { TIMELINE_COLUMNS, type TimelineRow } from '../engine/timeline-row.ts';
import { idOfBytes, textBytes } from '../tables/id-bytes.ts';
import { hasManySpans, listUpdates, type UpdateSource } from './updates.ts';

/** Entries of one kind on one subject. */
export interface TimelineRange {
  subject: Uint8Array;
  /** As `storedKind` returns it. */
  kind: number;
}

/** A place in a timeline: what is behind it is earlier. */
export interface TimelinePlace {
  at: number;
  record: string;
  sequence: number;
  /** The number of the kind, whether it shows by itself or through another record. */
  kind: number;
  /** Through which record; empty for the end of all that is the same. */
  via: string;
}

/** Which entries of a timeline to read, newest first. */
export interface TimelineQuery {
  ranges: readonly TimelineRange[];
  /** Null if no updates are wanted. */
  updates: UpdateSource | null;
  /** The first instant, in Unix milliseconds. */
  since: number;
  after: TimelinePlace;
  limit: number;
}

/** The place before all entries that are earlier than an instant, in Unix milliseconds. */
export function placeBefore(until: number): TimelinePlace {
  return { at: until, record: '', sequence: 0, kind: 0, via: '' };
}

/** The place of a row. */
export function placeOfEntryRow({ at, record, sequence, kind, via }: TimelineRow): TimelinePlace {
  return {
    at,
    record: idOfBytes(record),
    sequence,
    kind: kind >> 1,
    via: via.length === 0 ? '' : idOfBytes(via),
  };
}

/** The place after all rows that are the same entry. */
export function placeAfterEntry(row: TimelineRow): TimelinePlace {
  return { ...placeOfEntryRow(row), via: '' };
}

/** Whether two rows are the same entry, which can show by itself and through several records. */
export function isSameEntry(row: TimelineRow, other: TimelineRow): boolean {
  return (
    row.at === other.at &&
    row.sequence === other.sequence &&
    row.kind >> 1 === other.kind >> 1 &&
    Buffer.compare(row.record, other.record) === 0
  );
}

// PostgreSQL plans a statement of many parts for longer than it runs it.
const RANGES_AT_ONCE = 16;
const lists = new BoundedMap<number, Statement<TimelineRow>>(RANGES_AT_ONCE);

const KEY = ['at', 'record', 'sequence', 'via'] as const;
const descending = sql.join(KEY.map((column) => sql`${sql.ref(column)} desc`));
// As `newestFirst` compares them.
const newest = sql`at desc, record desc, sequence desc, kind >> 1 desc, via desc`;

function partOf(param: Param, index: number): RawBuilder<TimelineRow> {
  const own = (name: string) => param(`${name}${index}`);
  const last = [param('at'), param('record'), own('sequence'), own('via')];
  const isBehind = sql`(${sql.join(KEY.map((column) => sql.ref(column)))}) < (${sql.join(last)})`;
  const isInRange = sql`org_id = ${param('org')} and subject = ${own('subject')} and kind = ${own('kind')}`;
  return sql`select * from (
    select ${sql.join(TIMELINE_COLUMNS.map((column) => sql.ref(column)))} from timeline_entries
    where ${isInRange} and at >= ${param('since')} and ${isBehind}
    order by ${descending} limit ${param('limit')}) as few`;
}

function listOf(ranges: number): Statement<TimelineRow> {
  return lists.getOrCompute(ranges, () =>
    statement<TimelineRow>((db, param) => {
      const parts = Array.from({ length: ranges }, (_, index) => partOf(param, index));
      const entries = sql<TimelineRow>`${sql.join(parts, sql` union all `)}`;
      if (db.engine.answersAtOnce) return written(db, entries);
      // Sorted here as well, so that a server does not send a page of each part.
      const first = sql`order by ${newest} limit ${param('limit')}`;
      return written(db, sql<TimelineRow>`select * from (${entries}) as entry ${first}`);
    }),
  );
}

/** Entries newest first, ties by the ID of the record; fewer than asked for only at the end. */
export async function listTimeline(db: Db, orgNumber: number, query: TimelineQuery): Promise<TimelineRow[]> {
  const { ranges, updates, since, after, limit } = query;
  const place = { at: after.at, record: bytesOf(after.record) };
  const common = { org: orgNumber, since, ...place, limit };
  const stored: Eventually<TimelineRow[]>[] = [];
  for (let from = 0; from < ranges.length; from += RANGES_AT_ONCE) {
    const some = ranges.slice(from, from + RANGES_AT_ONCE);
    const own = some.map((range, index) => rangeArguments(range, after, index));
    stored.push(listOf(some.length)(db, Object.assign({ ...common }, ...own)));
  }
  // Of one record and instant, an update comes before all others.
  const behind = { after: { ...place, sequence: after.sequence }, limit };
  if (updates === null) return newestOf(await Promise.all(stored), limit);
  // In a long log, those before the last entry of a full page are not looked for.
  const oldestWanted = async () =>
    Math.max(since, newestOf(await Promise.all(stored), limit)[limit - 1]?.at ?? since);
  const sinceAll = hasManySpans(updates.log) ? oldestWanted() : since;
  const updated = listUpdates(db, orgNumber, updates, { ...behind, since: sinceAll });
  return newestOf(await Promise.all([...stored, updated]), limit);
}

function newestOf(rows: readonly TimelineRow[][], limit: number): TimelineRow[] {
  return rows.flat().sort(newestFirst).slice(0, limit);
}

// Of one record and instant, kinds follow each other in descending order.
function rangeArguments({ subject, kind }: TimelineRange, after: TimelinePlace, index: number) {
  const isNext = kind >> 1 < after.kind;
  const isSame = kind >> 1 === after.kind;
  return {
    [`subject${index}`]: subject,
    [`kind${index}`]: kind,
    [`sequence${index}`]: after.sequence + (isNext ? 1 : 0),
    [`via${index}`]: bytesOf(isSame ? after.via : ''),
  };
}

function bytesOf(id: string): Uint8Array {
  return id === '' ? new Uint8Array() : textBytes(id);
}

function newestFirst(a: TimelineRow, b: TimelineRow): number {
  return (
    b.at - a.at ||
    Buffer.compare(b.record, a.record) ||
    b.sequence - a.sequence ||
    (b.kind >> 1) - (a.kind >> 1) ||
    Buffer.compare(b.via, a.via)
  );
}
