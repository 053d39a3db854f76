// A page of the timeline of a contact, company or deal: what happened to it, newest first.

import { findLogState, type LogState } from '../../db/changes/log-state.ts';
import { storedKind, type TimelineRow } from '../../db/engine/timeline-row.ts';
import { TimeSlices } from '../../db/event-loop.ts';
import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { companies } from '../../db/model/resources/companies.ts';
import { contacts } from '../../db/model/resources/contacts.ts';
import { hasTimeline, TIMELINE_KINDS, type TimelineKind } from '../../db/model/timelines.ts';
import { textBytes } from '../../db/tables/id-bytes.ts';
import { instantOfId } from '../../db/tables/record-id.ts';
import { type Subject, subjectBytes } from '../../db/timeline/entries.ts';
import {
  isSameEntry,
  listTimeline,
  placeAfterEntry,
  placeBefore,
  placeOfEntryRow,
  type TimelinePlace,
  type TimelineRange,
} from '../../db/timeline/pages.ts';
import type { UpdateSource } from '../../db/timeline/updates.ts';
import { mayRead } from '../access.ts';
import { getRecord } from './records.ts';
import type { Reader } from './rules.ts';
import { kindResource, showEntries } from './timeline-items.ts';
import { addressesOf } from './timeline-ties.ts';

/** How many entries a request examines. */
export const TIMELINE_EXAMINED_MAX = 10_000;
const ROWS_AT_ONCE_MAX = 200;
// A company's tasks and deals mostly show by themselves and through a contact.
const ROWS_PER_ENTRY = 2;

/** Which part of a timeline is wanted. */
export interface TimelineRequest {
  /** Each readable; null for all that the key can read. */
  kinds: readonly TimelineKind[] | null;
  /** Unix milliseconds; the first instant, and the one after the last. */
  since: number | null;
  until: number | null;
  /** Whether what shows through contacts and deals of a company is left out. */
  isOwnOnly: boolean;
  /** Null for the first page. */
  after: TimelinePlace | null;
  limit: number;
}

export interface TimelinePage {
  items: Data[];
  /** The place after each item. */
  places: TimelinePlace[];
  /** The place after the page; null at the end of the timeline. */
  next: TimelinePlace | null;
}

/**
 * A page of a timeline.
 * @throws ApiError 404
 */
export async function readTimeline(
  reader: Reader,
  resource: Resource,
  id: string,
  request: TimelineRequest,
): Promise<TimelinePage> {
  const kinds = readableKinds(reader, request.kinds);
  const { db, access } = reader;
  const [record, log] = await Promise.all([
    getRecord(reader, resource, id),
    kinds.includes('change') ? findLogState(db, access.orgNumber) : null,
  ]);
  // With what shows through contacts and deals, as far as the key sees these.
  const isWhole = resource === companies && !request.isOwnOnly;
  const ranges = rangesOf(resource, record, kinds, isWhole);
  const updates = log?.isKept ? updatesOf(record, log, isWhole) : null;
  const page: TimelinePage = { items: [], places: [], next: null };
  let after = request.after ?? placeBefore(request.until ?? Number.MAX_SAFE_INTEGER);
  let limit = (request.limit + 1) * (isWhole ? ROWS_PER_ENTRY : 1);
  let last: TimelineRow | null = null;
  const turns = new TimeSlices();
  for (let examined = 0; ; ) {
    const query = { ranges, updates, since: request.since ?? Number.MIN_SAFE_INTEGER, after, limit };
    const rows = await listTimeline(reader.db, reader.access.orgNumber, query);
    const items = await showEntries(reader, { on: resource.name, record }, rows);
    for (const [index, row] of rows.entries()) {
      const item = items[index] ?? null;
      if (item === null || (last !== null && isSameEntry(row, last))) continue;
      if (page.items.length === request.limit) return { ...page, next: page.places.at(-1) ?? null };
      page.items.push(item);
      page.places.push(placeAfterEntry(row));
      last = row;
    }
    const end = rows.at(-1);
    if (end === undefined || rows.length < limit) return page;
    after = last !== null && isSameEntry(end, last) ? placeAfterEntry(end) : placeOfEntryRow(end);
    examined += rows.length;
    if (examined >= TIMELINE_EXAMINED_MAX) return { ...page, next: after };
    limit = Math.min(ROWS_AT_ONCE_MAX, limit * 2);
    if (turns.isOver) await turns.next();
  }
}

function readableKinds({ access }: Reader, named: readonly TimelineKind[] | null): readonly TimelineKind[] {
  return named ?? TIMELINE_KINDS.filter((kind) => kind === 'change' || mayRead(access, kindResource(kind)));
}

function updatesOf({ id, updated_at }: Data, log: LogState, isWhole: boolean): UpdateSource {
  const createdAt = instantOfId(String(id));
  return {
    ...{ subject: textBytes(String(id)), log, isWhole },
    // Not every ID contains the time of its creation.
    createdAt: Number.isNaN(createdAt) ? Number.MIN_SAFE_INTEGER : createdAt,
    updatedAt: Date.parse(String(updated_at)),
  };
}

const OF_PEOPLE: readonly TimelineKind[] = ['meeting', 'booking'];

// Meetings and bookings of a contact are those of its addresses.
function rangesOf(
  resource: Resource,
  record: Data,
  kinds: readonly TimelineKind[],
  isWhole: boolean,
): TimelineRange[] {
  const { name } = resource;
  if (!hasTimeline(name)) throw new Error(`${name} have no timeline`);
  const range = (subject: Subject, kind: TimelineKind, isThrough = false) => ({
    subject: subjectBytes(subject),
    kind: storedKind(kind, isThrough),
  });
  const itself: Subject = { on: name, id: String(record.id) };
  const stored = kinds.filter((kind) => kind !== 'change');
  const own = stored.map((kind) => range(itself, kind));
  const through = isWhole ? stored.map((kind) => range(itself, kind, true)) : [];
  const addresses = resource === contacts ? addressesOf(record) : [];
  const people = OF_PEOPLE.filter((kind) => kinds.includes(kind));
  const met = addresses.flatMap((id) => people.map((kind) => range({ on: 'addresses', id }, kind)));
  return [...own, ...through, ...met];
}
