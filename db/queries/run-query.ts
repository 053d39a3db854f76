// Finds the records of a query, and counts them, within what a request may examine.
import type { Db } from '../engine/schema.ts';
import { type Condition, conditionsIn, type FilterNode } from '../model/query/filter.ts';
import { columnsRead, type Predicate, predicateOf } from '../model/query/predicate.ts';
import { getQuerySort, type QueryDirection, type QueryPlace, type QuerySort } from '../model/query/sorts.ts';
import type { Resource } from '../model/resource.ts';
import { longTexts } from '../tables/page-size.ts';
import { countAll } from './count-all.ts';
import { Examination } from './examination.ts';
import { entriesPerRecord, findLinked, linkConditions } from './linked.ts';
import { planWalk } from './plan.ts';
import { columnsToRead } from './read-columns.ts';

/** How many index entries, rows and links a page examines at most. */
export const PAGE_EXAMINED_MAX = 10_000;
/** How many a count examines. */
export const COUNT_EXAMINED_MAX = 100_000;

/** Which records a query is about. */
export interface RecordQuery {
  orgNumber: number;
  /** The user that a key is bound to; null for all of the organization. */
  userId: string | null;
  resource: Resource;
  filter: FilterNode;
}

/** In which order, from where on, and how many. */
export interface PageQuery extends RecordQuery {
  sort: QuerySort;
  direction: QueryDirection;
  after: QueryPlace | null;
  limit: number;
}

export interface FoundPage {
  /** The places of the records, in order. */
  places: QueryPlace[];
  /** The place from which to continue; null if no more records can follow. */
  next: QueryPlace | null;
  examined: number;
}

/** The next records of a query, in its order; at least one is examined, whatever the limit. */
export async function findQueryPage(
  db: Db,
  query: PageQuery,
  examinedMax: number = PAGE_EXAMINED_MAX,
): Promise<FoundPage> {
  const examination = new Examination(examinedMax);
  const places: QueryPlace[] = [];
  const { limit } = query;
  const stoppedAt = await visit(db, query, examination, limit + 1, (place) => {
    places.push(place);
    return places.length <= limit;
  });
  const isFull = places.length > limit;
  if (isFull) places.pop();
  const next = isFull ? (places.at(-1) ?? null) : stoppedAt;
  return { places, next, examined: examination.count };
}

export interface Count {
  count: number;
  /** Whether all records were examined. */
  isExact: boolean;
  examined: number;
}

/** How many records a query finds, or at least. */
export async function countRecords(
  db: Db,
  query: RecordQuery,
  examinedMax: number = COUNT_EXAMINED_MAX,
): Promise<Count> {
  if (conditionsIn(query.filter).length === 0) return countEvery(db, query, examinedMax);
  const examination = new Examination(examinedMax);
  let count = 0;
  const sort = getQuerySort(query.resource, 'created_at');
  const whole = { ...query, sort, direction: 'asc' as const, after: null };
  const stoppedAt = await visit(db, whole, examination, ROWS_AT_ONCE_MAX, () => {
    count += 1;
    return true;
  });
  return { count, isExact: stoppedAt === null, examined: examination.count };
}

async function countEvery(db: Db, query: RecordQuery, examinedMax: number): Promise<Count> {
  const { orgNumber: org, resource } = query;
  const found = await countAll(db, resource, {
    org,
    ownerId: ownerOf(query),
    limit: examinedMax + 1,
  });
  const count = Math.min(found, examinedMax);
  return { count, isExact: count === found, examined: count };
}

const ROWS_AT_ONCE_MIN = 50;
const ROWS_AT_ONCE_MAX = 1_000;
// Of rows that can have long texts.
const LONG_ROWS_AT_ONCE_MAX = 100;

// Calls back for each record in order until that returns false, and returns where it stopped before the end.
async function visit(
  db: Db,
  query: Omit<PageQuery, 'limit'>,
  examination: Examination,
  wanted: number,
  onMatch: (place: QueryPlace) => boolean,
): Promise<QueryPlace | null> {
  const { orgNumber: org, userId, resource, filter } = query;
  const conditions = conditionsIn(filter);
  const links = linkConditions(resource, conditions);
  const reader = { org, userId };
  const perRecord = entriesPerRecord(links, reader);
  const walked = { ...query, db, org, examination, ...readingOf(query, conditions) };
  const most = rowsAtOnce(resource, walked.columns);
  const walk = await planWalk(walked, filter, ownerOf(query), most);
  let rows = Math.min(conditions.length === 0 ? wanted : Math.max(wanted, ROWS_AT_ONCE_MIN), most);
  let stoppedAt: QueryPlace | null = null;
  while (!walk.isDone) {
    // Never before the first record, or the next page would end there too.
    const isStarted = stoppedAt !== null;
    if (isStarted && examination.left < walk.leastCost + perRecord) return stoppedAt;
    const candidates = await walk.next(Math.min(rows, atMost(examination.left, 1 + perRecord)));
    for (let from = 0; from < candidates.length; ) {
      if (stoppedAt !== null && examination.left < perRecord) return stoppedAt;
      const some = candidates.slice(from, from + atMost(examination.left, perRecord));
      const unknown = some.flatMap(({ meets, place }) => (meets === undefined ? [place.id] : []));
      const linked = await findLinked(db, reader, links, unknown, examination);
      for (const { place, meets, row } of some) {
        stoppedAt = place;
        if ((meets ?? walked.meets(row, linked)) === true && !onMatch(place)) return stoppedAt;
      }
      from += some.length;
      await examination.pause();
    }
    rows = Math.min(rows * 2, most);
  }
  return null;
}

// How many records of that cost there is room for.
function atMost(left: number, cost: number): number {
  return cost === 0 ? ROWS_AT_ONCE_MAX : Math.max(1, Math.floor(left / cost));
}

function ownerOf({ resource, userId }: RecordQuery): string | null {
  return resource.owner === null ? null : userId;
}

// The columns that are read of each record, and whether it meets the filter and is visible.
function readingOf(
  query: Omit<PageQuery, 'limit'>,
  conditions: readonly Condition[],
): { columns: string[]; meets: Predicate } {
  const { resource, filter, sort } = query;
  const { owner } = resource;
  const ownerId = ownerOf(query);
  const names = new Set(columnsRead(conditions));
  if (sort.by !== 'id') names.add(sort.name);
  if (ownerId !== null && owner !== null) names.add(owner);
  const columns = columnsToRead(resource, names);
  const meets = predicateOf(filter);
  if (ownerId === null || owner === null) return { columns, meets };
  return { columns, meets: (row, linked) => row[owner] === ownerId && meets(row, linked) };
}

function rowsAtOnce(resource: Resource, columns: readonly string[]): number {
  const isLong = longTexts(resource).some((name) => columns.includes(name));
  return isLong ? LONG_ROWS_AT_ONCE_MAX : ROWS_AT_ONCE_MAX;
}
