// Meetings from calendars: older revisions are ignored, and meetings that a calendar no longer contains are cancelled.

import { lastChange } from '../engine/change-log.ts';
import type { RecordRow } from '../engine/schema.ts';
import { instantMs } from '../model/instants.ts';
import { showRow } from '../model/record-forms.ts';
import { meetings } from '../model/resources/meetings.ts';
import { recordings } from '../model/resources/recordings.ts';
import { findByExternalIds, findByStart } from '../records/external-ids.ts';
import { updateRecord, updateReservedRecords } from '../records/record-updates.ts';
import { listRecordingsOf } from '../records/recordings.ts';
import { findRecords } from '../records/records.ts';
import type { Store } from '../store.ts';
import { emailsOf } from '../tables/contact-emails.ts';
import {
  type IngestEntry,
  type IngestOptions,
  type IngestReport,
  type IngestTransaction,
  ingestAll,
  logEvent,
  recordOutcome,
  type StoredEntry,
  upsertOwned,
} from './ingest-transaction.ts';

export interface MeetingEntry extends IngestEntry {
  /** Revision of the calendar entry: an older one never overwrites a newer one. Null if there is no revision. */
  sequence: number | null;
}

/** The time span for which a calendar lists every instance of a series; other stored instances are gone. */
export interface SeriesExtent {
  sequence: number;
  /** Unix milliseconds, inclusive; infinite if the calendar lists the series to that end. */
  from: number;
  to: number;
}

/** The meetings of one calendar entry: a single one, or the instances of a series. */
export interface MeetingGroup {
  /** The external ID of a single meeting, and the prefix of those of instances: `UID/RECURRENCE-ID`. */
  uid: string;
  entries: readonly MeetingEntry[];
  /** External IDs of meetings with faulty entries, which stay unchanged. */
  spared: readonly string[];
  /** Null if the entry does not say which other instances exist. */
  extent: SeriesExtent | null;
}

const ENTRIES_PER_SLICE = 100;

interface Slice extends MeetingGroup {
  externalIds: ReadonlySet<string>;
}

/** Stores meetings; groups are written in order. */
export function ingestMeetings(
  store: Store,
  options: IngestOptions,
  groups: AsyncIterable<MeetingGroup> | Iterable<MeetingGroup>,
): Promise<IngestReport> {
  return ingestAll(store, options, {
    items: slicesOf(groups),
    countOf: ({ entries }) => Math.max(1, entries.length),
    write: writeSlice,
  });
}

// A long series takes several transactions; the last one finds the instances that are gone.
async function* slicesOf(
  groups: AsyncIterable<MeetingGroup> | Iterable<MeetingGroup>,
): AsyncGenerator<Slice> {
  for await (const group of groups) {
    const told = group.entries.map(({ data }) => String(data.external_id));
    const externalIds = new Set([...told, ...group.spared]);
    for (let from = 0; from === 0 || from < group.entries.length; from += ENTRIES_PER_SLICE) {
      const to = from + ENTRIES_PER_SLICE;
      const extent = to < group.entries.length ? null : group.extent;
      yield { ...group, externalIds, extent, entries: group.entries.slice(from, to) };
    }
  }
}

async function writeSlice(transaction: IngestTransaction, slice: Slice): Promise<void> {
  const { trx, orgNumber, instant, report } = transaction;
  const { uid, entries, extent } = slice;
  const ids = [uid, ...entries.map(({ data }) => String(data.external_id))];
  const stored = await findByExternalIds(transaction.trx, meetings, transaction.orgNumber, ids);
  const instances = extent === null ? [] : await storedInstances(transaction, uid);
  for (const entry of entries) {
    const externalId = String(entry.data.external_id);
    const isWordOfSeries = externalId === uid && entry.data.status === 'cancelled' && instances.length > 0;
    await recordOutcome(transaction, entry, async () => {
      const existing = stored.get(externalId);
      if (isOutdated(entry.sequence, existing, stored.get(uid))) return 'unchanged';
      // The cancellation of a series cancels its instances; it is not a meeting itself.
      if (isWordOfSeries && existing === undefined) return 'unchanged';
      const { row, outcome } = await writeMeeting(transaction, entry, existing);
      stored.set(externalId, row);
      return outcome;
    });
  }
  if (extent === null) return;
  const plain = stored.get(uid);
  const gone = goneMeetings(slice, extent, plain === undefined ? instances : [plain, ...instances]);
  for (const row of gone) {
    await updateRecord(
      trx,
      meetings,
      { orgNumber, row },
      { status: 'cancelled', updated_at: await instant() },
    );
    report.cancelled += 1;
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
  transaction: IngestTransaction,
  { data, sequence }: MeetingEntry,
  existing: RecordRow | undefined,
): Promise<StoredEntry> {
  const revised = sequence === null ? data : { ...data, sequence };
  const written = await upsertOwned(transaction, meetings, revised, existing);
  if (existing !== undefined && existing.owner_id !== written.row.owner_id) {
    await giveRecordings(transaction, written.row);
  }
  await logMeeting(transaction, written.row);
  return written;
}

async function giveRecordings(
  { trx, orgNumber, instant }: IngestTransaction,
  meeting: RecordRow,
): Promise<void> {
  const columns = { owner_id: meeting.owner_id ?? null, updated_at: await instant() };
  const ofMeeting = await listRecordingsOf(trx, orgNumber, [meeting.id]);
  const rows = await findRecords(
    trx,
    recordings,
    orgNumber,
    ofMeeting.map(({ id }) => id),
  );
  const others = rows.filter(({ owner_id }) => owner_id !== columns.owner_id);
  const updates = others.map((row) => ({ row, columns }));
  // The meeting was changed last.
  await updateReservedRecords(trx, recordings, orgNumber, updates, await lastChange(trx, orgNumber));
}

async function logMeeting(transaction: IngestTransaction, row: RecordRow): Promise<void> {
  const start = row.start_time;
  const end = row.end_time ?? start;
  const isPast = typeof start === 'number' && Number(end) <= transaction.now;
  if (!isPast || row.status === 'cancelled') return;
  const { title, attendees, organizer } = showRow(meetings.fields, { ...row });
  await logEvent(transaction, {
    type: 'MEETING',
    title: String(title || 'Meeting'),
    summary: null,
    interactionDate: start,
    primaryId: String(row.external_id),
    emails: [...emailsOf(attendees), ...emailsOf(organizer)],
    ownerId: row.owner_id,
  });
}

async function storedInstances({ trx, orgNumber }: IngestTransaction, uid: string): Promise<RecordRow[]> {
  const rows = await findByStart(trx, meetings, orgNumber, `${uid}/`);
  return rows.filter((row) => instanceInstant(uid, row) !== undefined);
}

// Unix milliseconds of the RECURRENCE-ID; undefined if the ID only looks like that of an instance.
function instanceInstant(uid: string, row: RecordRow): number | undefined {
  const suffix = String(row.external_id).slice(uid.length);
  const [, day, time = '000000'] = /^\/(\d{8})(?:T(\d{6})Z?)?$/.exec(suffix) ?? [];
  return day === undefined ? undefined : instantMs(`${day}T${time}Z`);
}

function goneMeetings(slice: Slice, extent: SeriesExtent, rows: readonly RecordRow[]): RecordRow[] {
  return rows.filter((row) => {
    if (slice.externalIds.has(String(row.external_id)) || row.status === 'cancelled') return false;
    if (Number(row.sequence ?? 0) > extent.sequence) return false;
    const instant = instanceInstant(slice.uid, row);
    return instant === undefined || (instant >= extent.from && instant <= extent.to);
  });
}
