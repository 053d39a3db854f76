// The feed of changes: a page of what a key sees of the log, from a place in it.

import { findActors } from '../../db/accounts/change-actors.ts';
import { findPlacedLog, type LogState, type PlacedLog } from '../../db/changes/log-state.ts';
import { type ChangeFilters, type ChangeRange, listChanges } from '../../db/changes/queries.ts';
import type { ChangeRow } from '../../db/engine/change-row.ts';
import { TimeSlices } from '../../db/event-loop.ts';
import { instantText } from '../../db/model/instants.ts';
import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import type { Direction } from '../../db/tables/list-query.ts';
import { ApiError } from '../errors.ts';
import { type ChangeView, showChange, viewOf } from './change-views.ts';
import { getRecords } from './records.ts';
import type { Reader } from './rules.ts';

/** How many changes a request examines. */
export const EXAMINED_MAX = 10_000;
// Those of a record are found by an index.
const EXAMINED_OF_RECORD_MAX = 10_000_000;
// Of later queries for a page, which are needed because the key does not see every change.
const ROWS_MIN = 100;
const NOTHING: ChangeRange = { from: 1, to: 0 };

/** Which changes a page has. */
export interface ViewsRequest {
  filters: ChangeFilters;
  direction: Direction;
  /** What remains of the log in that direction. */
  range: ChangeRange;
  limit: number;
  /** How many changes are examined; `EXAMINED_MAX` by default. */
  examinedMax?: number;
  /** Whether nothing is read beyond this change. */
  isLast?: (view: ChangeView) => boolean;
}

/** A change, by its number in the log and its instant in Unix milliseconds. */
export type ChangePlace = Pick<ChangeRow, 'sequence' | 'at'>;

export interface FeedPage {
  items: Data[];
  /** The number of each item, and when it happened. */
  places: ChangePlace[];
  /** What remains of the log after the page. */
  rest: ChangeRange;
}

/** A page of changes in order; it can be empty although the log goes on. */
export async function readFeed(reader: Reader, request: ViewsRequest): Promise<FeedPage> {
  const isOfRecord = request.filters.recordId !== null;
  const { views, rest } = await readViews(reader, {
    ...request,
    ...(isOfRecord && { examinedMax: EXAMINED_OF_RECORD_MAX }),
  });
  const [records, items] = await Promise.all([readRecords(reader, views), showChanges(reader, views)]);
  // Without copying, which takes as long as making them.
  for (const [index, { recordId }] of views.entries())
    (items[index] as Data).record = records.get(recordId) ?? null;
  return {
    items,
    places: views.map(({ row: { sequence, at } }) => ({ sequence, at })),
    rest,
  };
}

/** Changes as a response shows them, without the records as they are now. */
export async function showChanges({ db, access }: Reader, views: readonly ChangeView[]): Promise<Data[]> {
  const actors = await findActors(db, access.orgNumber, new Set(views.map(({ row }) => row.actor)));
  return views.map((view) => showChange(access, view, actors));
}

/**
 * What the log of the key's organization contains, as seen from a place in it.
 * @throws ApiError 404 if no changes are kept
 */
export async function getKeptLog({ db, access }: Reader, sequence: number | null = null): Promise<PlacedLog> {
  const log = await findPlacedLog(db, access.orgNumber, sequence);
  if (!log.isKept)
    throw new ApiError('RESOURCE_NOT_FOUND', 'This service keeps no changes; its operator can turn that on.');
  return log;
}

/** Whether an instant (Unix milliseconds) is earlier than all that the log still has. */
export function isBeforeLog({ first, firstAt, instant }: LogState, at: number): boolean {
  return first > 1 && at < (firstAt ?? instant + 1);
}

/** Since when changes are kept, in words. */
export function keptSince({ firstAt }: LogState): string {
  return firstAt === null ? 'no earlier change is kept' : `changes are kept since ${instantText(firstAt)}`;
}

/** What remains of a stretch of the log after one of its changes. */
export function restAfter({ from, to }: ChangeRange, sequence: number, direction: Direction): ChangeRange {
  return direction === 'asc' ? { from: sequence + 1, to } : { from, to: sequence - 1 };
}

/** Changes as the key sees them, and what remains of the log after them. */
export async function readViews(
  { db, access }: Reader,
  { filters, direction, range, limit, examinedMax = EXAMINED_MAX, isLast }: ViewsRequest,
): Promise<{ views: ChangeView[]; rest: ChangeRange }> {
  const examined = within(range, direction, examinedMax);
  const views: ChangeView[] = [];
  const turns = new TimeSlices();
  let left = examined;
  let rowsMax = limit;
  while (left.from <= left.to && views.length < limit) {
    const query = { ...filters, ...left, orgNumber: access.orgNumber, direction, limit: rowsMax };
    const { rows, isCut } = await listChanges(db, query);
    let read = 0;
    for (const row of rows) {
      if (views.length === limit) break;
      read += 1;
      const view = viewOf(access, row);
      if (view === null) continue;
      views.push(view);
      if (isLast?.(view)) return { views, rest: NOTHING };
    }
    const lastRead = rows[read - 1];
    if (lastRead !== undefined) left = restAfter(left, lastRead.sequence, direction);
    const last = direction === 'asc' ? examined.to : examined.from;
    if (isCut) break;
    if (rows.length < rowsMax && views.length < limit) left = restAfter(left, last, direction);
    rowsMax = Math.max(limit, ROWS_MIN);
    if (turns.isOver) await turns.next();
  }
  return { views, rest: direction === 'asc' ? { ...range, from: left.from } : { ...range, to: left.to } };
}

function within({ from, to }: ChangeRange, direction: Direction, changesMax: number): ChangeRange {
  if (direction === 'asc') return { from, to: Math.min(to, from + changesMax - 1) };
  return { from: Math.max(from, to - changesMax + 1), to };
}

// After the changes, possibly in a later snapshot: each record is as its changes left it, or newer. If it is newer, a later
// page has the change that made it so, with a record read after that. So a reader that stores each record ends with the last.
async function readRecords(reader: Reader, views: readonly ChangeView[]): Promise<Map<string, Data>> {
  const records = new Map<string, Data>();
  const byResource = Map.groupBy(views, ({ resource }) => resource);
  const read = async ([resource, some]: [Resource, ChangeView[]]) => {
    const ids = some.map(({ recordId }) => recordId);
    for (const [id, record] of await getRecords(reader, resource, ids)) records.set(id, record);
  };
  await Promise.all([...byResource].map(read));
  return records;
}
