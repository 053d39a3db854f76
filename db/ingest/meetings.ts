// Meetings from calendars: an older revision changes nothing, and what a calendar no longer has is cancelled.
import type { Data, JsonValue } from '../declare/json.ts';
import { meetings } from '../resources/meetings.ts';
import { type Db, type RecordRow, tableOf } from '../schema.ts';
import type { Store } from '../store.ts';
import { updateRecord } from '../tables/records.ts';
import {
  emailOf,
  findByExternalIds,
  type IngestEntry,
  type IngestOptions,
  type IngestReport,
  IngestRun,
  logEvent,
  type Outcome,
  ownerOf,
  recordIn,
  upsert,
} from './desk.ts';

export interface MeetingEntry extends IngestEntry {
  /** Revision of the calendar's entry: an older one never overwrites a newer one. Null where there are none. */
  sequence: number | null;
}

/** The stretch of time for which a calendar tells every instance of a series; what else is stored there is gone. */
export interface SeriesExtent {
  sequence: number;
  /** Unix milliseconds, inclusive; infinite where the calendar tells the series to that end. */
  from: number;
  to: number;
}

/** The meetings of one calendar entry: one, or the instances of a series. */
export interface MeetingGroup {
  /** The external id of the one, and what those of instances begin with: `UID/RECURRENCE-ID`. */
  uid: string;
  entries: readonly MeetingEntry[];
  /** External ids of meetings that are told badly, and so are left as they are. */
  spared: readonly string[];
  /** Null where the entry does not tell what else there is. */
  extent: SeriesExtent | null;
}

const ENTRIES_PER_SLICE = 100;

interface Slice extends MeetingGroup {
  externalIds: ReadonlySet<string>;
}

/** Stores meetings; groups are written one after the other, in order. */
export function ingestMeetings(
  store: Store,
  options: IngestOptions,
  groups: readonly MeetingGroup[],
): Promise<IngestReport> {
  const run = new IngestRun(options);
  const countOf = (slice: Slice): number => Math.max(1, slice.entries.length);
  return run.writeAll(store, groups.flatMap(slicesOf), countOf, (trx, slice) => writeSlice(trx, run, slice));
}

// A long series takes several transactions; the last one looks for what is gone.
function slicesOf(group: MeetingGroup): Slice[] {
  const told = group.entries.map(({ data }) => String(data.external_id));
  const externalIds = new Set([...told, ...group.spared]);
  const slices: Slice[] = [];
  for (let from = 0; from === 0 || from < group.entries.length; from += ENTRIES_PER_SLICE) {
    const to = from + ENTRIES_PER_SLICE;
    const extent = to < group.entries.length ? null : group.extent;
    slices.push({ ...group, externalIds, extent, entries: group.entries.slice(from, to) });
  }
  return slices;
}

async function writeSlice(trx: Db, run: IngestRun, slice: Slice): Promise<void> {
  const { uid, entries, extent } = slice;
  const ids = [uid, ...entries.map(({ data }) => String(data.external_id))];
  const stored = await findByExternalIds(trx, meetings, run.options.orgId, ids);
  const instances = extent === null ? [] : await storedInstances(trx, run.options.orgId, uid);
  for (const entry of entries) {
    const externalId = String(entry.data.external_id);
    const isWordOfSeries = externalId === uid && entry.data.status === 'cancelled' && instances.length > 0;
    await run.settle(entry.line, async () => {
      const existing = stored.get(externalId);
      if (isOutdated(entry.sequence, existing, stored.get(uid))) return 'unchanged';
      // The cancellation of a series reaches its instances; it is no meeting of its own.
      if (isWordOfSeries && existing === undefined) return 'unchanged';
      const { row, outcome } = await writeMeeting(trx, run, entry, existing);
      stored.set(externalId, row);
      return outcome;
    });
  }
  if (extent === null) return;
  const plain = stored.get(uid);
  const gone = goneMeetings(slice, extent, plain === undefined ? instances : [plain, ...instances]);
  for (const row of gone) {
    const columns = { status: 'cancelled', updated_at: run.options.now };
    await updateRecord(trx, meetings, { orgId: run.options.orgId, id: row.id }, columns);
    run.report.cancelled += 1;
  }
}

function isOutdated(
  sequence: number | null,
  existing: RecordRow | undefined,
  plain: RecordRow | undefined,
): boolean {
  if (sequence === null) return false;
  if (existing !== undefined) return Number(existing.sequence ?? 0) > sequence;
  return plain?.status === 'cancelled' && Number(plain.sequence ?? 0) > sequence;
}

async function writeMeeting(
  trx: Db,
  run: IngestRun,
  entry: MeetingEntry,
  existing: RecordRow | undefined,
): Promise<{ row: RecordRow; outcome: Outcome }> {
  const owner = await ownerOf(trx, run, entry.data, existing);
  const data: Data = {
    ...entry.data,
    ...(owner !== undefined && { owner_id: owner }),
    ...(entry.sequence !== null && { sequence: entry.sequence }),
  };
  const written = await upsert(trx, run, meetings, data, existing);
  if (existing !== undefined && existing.owner_id !== written.row.owner_id) {
    await giveRecordings(trx, run, written.row);
  }
  await logMeeting(trx, run, written.row);
  return written;
}

async function giveRecordings(trx: Db, run: IngestRun, meeting: RecordRow): Promise<void> {
  const columns = { owner_id: meeting.owner_id ?? null, updated_at: run.options.now };
  await trx
    .updateTable(tableOf({ name: 'recordings' }))
    .set(columns)
    .where('org_id', '=', run.options.orgId)
    .where('meeting_id', '=', meeting.id)
    .execute();
}

async function logMeeting(trx: Db, run: IngestRun, row: RecordRow): Promise<void> {
  const start = row.start_time;
  const end = row.end_time ?? start;
  const isPast = typeof start === 'number' && Number(end) <= run.options.now;
  if (!isPast || row.status === 'cancelled') return;
  const meeting = recordIn(meetings, row);
  await logEvent(trx, run, {
    type: 'MEETING',
    title: textOr(meeting.title, 'Meeting'),
    summary: null,
    date: start,
    externalId: String(row.external_id),
    emails: [...emailsIn(meeting.attendees), ...emailsIn(meeting.organizer)],
    ownerId: typeof row.owner_id === 'string' ? row.owner_id : null,
  });
}

/** Text, or a word in its place where there is none. */
export function textOr(value: JsonValue | undefined, fallback: string): string {
  return typeof value === 'string' && value !== '' ? value : fallback;
}

/** The emails of a person, or of several. */
export function emailsIn(value: JsonValue | undefined): string[] {
  return (Array.isArray(value) ? value : [value]).flatMap((person) => emailOf(person) ?? []);
}

async function storedInstances(trx: Db, orgId: string, uid: string): Promise<RecordRow[]> {
  const rows = await trx
    .selectFrom(tableOf(meetings))
    .selectAll()
    .where('org_id', '=', orgId)
    // "0" is the character after "/".
    .where('external_id', '>=', `${uid}/`)
    .where('external_id', '<', `${uid}0`)
    .execute();
  return (rows as RecordRow[]).filter((row) => instanceInstant(uid, row) !== undefined);
}

// Unix milliseconds of the RECURRENCE-ID; undefined where the id only looks like that of an instance.
function instanceInstant(uid: string, row: RecordRow): number | undefined {
  const suffix = String(row.external_id).slice(uid.length);
  const match = /^\/(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})Z?)?$/.exec(suffix);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1)
    .map((part) => Number(part ?? 0));
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

function goneMeetings(slice: Slice, extent: SeriesExtent, rows: readonly RecordRow[]): RecordRow[] {
  return rows.filter((row) => {
    if (slice.externalIds.has(String(row.external_id)) || row.status === 'cancelled') return false;
    if (Number(row.sequence ?? 0) > extent.sequence) return false;
    const instant = instanceInstant(slice.uid, row);
    return instant === undefined || (instant >= extent.from && instant <= extent.to);
  });
}
