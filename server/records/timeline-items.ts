// The entries of a timeline as a key sees them: with the records that they are about, and without what it cannot see.

import { findUpdates } from '../../db/changes/queries.ts';
import type { ChangeRow } from '../../db/engine/change-row.ts';
import { isShownThrough, type TimelineRow, timelineKind } from '../../db/engine/timeline-row.ts';
import { instantText } from '../../db/model/instants.ts';
import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { getResource } from '../../db/model/resources/registry.ts';
import { type EntryKind, TIMELINE_RESOURCES } from '../../db/model/timelines.ts';
import { idOfBytes } from '../../db/tables/id-bytes.ts';
import { ENDED } from '../../db/timeline/places.ts';
import { mayRead } from '../access.ts';
import { viewOf } from './change-views.ts';
import { getRecords } from './records.ts';
import type { Reader } from './rules.ts';
import { findTies, isTied, type PossibleTie, type TimelineEnd, type TimelineTie } from './timeline-ties.ts';

// Changes are about records with a timeline.
const KIND_RESOURCES: Readonly<Record<EntryKind, string>> = {
  interaction: 'interactions',
  meeting: 'meetings',
  booking: 'bookings',
  note: 'notes',
  task: 'tasks',
  deal: 'deals',
  stage: 'deals',
};

/** The resource of the records that entries of a kind are about. */
export function kindResource(kind: EntryKind): Resource {
  return getResource(KIND_RESOURCES[kind]);
}

// Through which records something shows on a company.
const THROUGH = TIMELINE_RESOURCES.filter((name) => name !== 'companies');

/** The records that the key sees, by resource and ID. */
type Records = ReadonlyMap<string, ReadonlyMap<string, Data>>;

/** The items of rows, in their order, as a response shows them; null for what the key does not see. */
export async function showEntries(
  reader: Reader,
  end: TimelineEnd,
  rows: readonly TimelineRow[],
): Promise<(Data | null)[]> {
  const [records, changes, linked] = await Promise.all([
    findRecordsOf(reader, rows),
    findChangesOf(reader, rows),
    findTies(
      reader,
      rows.map((row) => possibleTie(row, end)),
    ),
  ]);
  return rows.map((row) => {
    const tie = tieOf(row, end, records);
    if (tie === null || !isTied(tie, linked)) return null;
    const detail = detailOf(reader, row, tie, changes.get(row.sequence));
    return detail === undefined ? null : itemOf(tie, detail);
  });
}

async function findRecordsOf(reader: Reader, rows: readonly TimelineRow[]): Promise<Records> {
  const wanted = new Map<string, Set<string>>();
  const want = (name: string, id: Uint8Array) =>
    wanted.getOrInsertComputed(name, () => new Set()).add(idOfBytes(id));
  for (const { kind: stored, record, via } of rows) {
    const kind = timelineKind(stored);
    if (kind !== 'change') want(KIND_RESOURCES[kind], record);
    if (isShownThrough(stored)) for (const name of THROUGH) want(name, via);
  }
  const readable = [...wanted].filter(([name]) => mayRead(reader.access, getResource(name)));
  const found = readable.map(
    async ([name, ids]) => [name, await getRecords(reader, getResource(name), [...ids])] as const,
  );
  return new Map(await Promise.all(found));
}

// Deals show through contacts alone, unless the deal is itself what shows; for other kinds the resource makes no difference.
function possibleTie({ kind, record, via }: TimelineRow, { on, record: whose }: TimelineEnd): PossibleTie {
  const common = { kind: timelineKind(kind), recordId: idOfBytes(record) };
  if (isShownThrough(kind)) return { ...common, on: 'contacts', endId: idOfBytes(via) };
  return { ...common, on, endId: String(whose.id) };
}

// By sequence number.
async function findChangesOf(
  { db, access: { orgNumber } }: Reader,
  rows: readonly TimelineRow[],
): Promise<ReadonlyMap<number, ChangeRow>> {
  const numbers = rows.flatMap(({ kind, sequence }) => (timelineKind(kind) === 'change' ? [sequence] : []));
  return new Map((await findUpdates(db, orgNumber, numbers)).map((row) => [row.sequence, row]));
}

/** What an item is about, with the resource of its record. */
interface NamedTie extends TimelineTie {
  resource: string;
}

// Null if it names a record that the key does not see.
function tieOf(
  { kind: stored, at, sequence, record, via }: TimelineRow,
  whose: TimelineEnd,
  records: Records,
) {
  const kind = timelineKind(stored);
  const end = isShownThrough(stored) ? throughOf(idOfBytes(via), records) : whose;
  if (end === null) return null;
  const resource = kind === 'change' ? end.on : KIND_RESOURCES[kind];
  const shown = kind === 'change' ? end.record : records.get(resource)?.get(idOfBytes(record));
  return shown === undefined ? null : { kind, at, sequence, record: shown, end, resource };
}

function throughOf(id: string, records: Records): TimelineEnd | null {
  for (const on of THROUGH) {
    const record = records.get(on)?.get(id);
    if (record !== undefined) return { on, record };
  }
  return null;
}

// Undefined if the key did not see the record at the time.
function detailOf(
  { access }: Reader,
  row: TimelineRow,
  { kind, record }: TimelineTie,
  change: ChangeRow | undefined,
): Data | null | undefined {
  if (kind === 'stage') return row.detail === null ? null : (JSON.parse(row.detail) as Data);
  if (kind === 'meeting') return { recording_ids: record.recording_ids ?? [] };
  if (kind === 'task' && row.sequence === ENDED) return { is_done: true };
  if (kind !== 'change' || change === undefined) return null;
  const view = viewOf(access, change);
  if (view?.action !== 'updated') return undefined;
  const { before, after } = view;
  return before === null ? null : { before, after };
}

function itemOf({ kind, at, record, resource }: NamedTie, detail: Data | null): Data {
  const title = titleOf(resource, record);
  const about = { record_type: resource, record_id: record.id ?? null };
  return { at: instantText(at), kind, ...about, title, detail, record };
}

function titleOf(resource: string, record: Data): string | null {
  if (resource === 'contacts') {
    const name = [record.first_name, record.last_name].filter((part) => typeof part === 'string').join(' ');
    return name || textOf(record.email) || textOf(record.phone);
  }
  return textOf(record.title) || textOf(record.name) || textOf(record.domain);
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
