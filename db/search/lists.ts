// Reads and writes the rows of runs of the search index.

import { sql } from 'kysely';
import { bulkInsert } from '../engine/bulk-insert.ts';
import type { Db, Trx } from '../engine/schema.ts';
import type { SearchRow } from '../engine/search-rows.ts';
import { statement, written } from '../engine/statement.ts';
import { afterStart, keyBytes, listOfKey, runKeyStart, runOfKey } from './keys.ts';
import { type PackedList, type PackedRow, packedListsFrom } from './packing.ts';

/** A row, as it is read. */
export type StoredRow = Pick<SearchRow, 'key' | 'entries'>;

const rowsFrom = (limit: number) =>
  statement<StoredRow>((db, param) => {
    const last = sql<Uint8Array>`(select one.key from search_rows as one
      where one.org_id = ${param('org')} and one.key <= ${param('from')} order by one.key desc limit 1)`;
    return db
      .selectFrom('search_rows')
      .select(['key', 'entries'])
      .where('org_id', '=', param('org'))
      .where('key', '>=', sql<Uint8Array>`coalesce(${last}, ${param('from')})`)
      .where('key', '<', param('end'))
      .orderBy('key')
      .limit(sql.lit(limit));
  });

/** Lists of some rows of a run, in order. */
export interface RunLists {
  lists: PackedList[];
  /** Whether there are no more rows that begin with a list which begins in that way. */
  isEnd: boolean;
}

/** What is read of a run: from a key on, with the row that contains it, whatever begins in some way. */
export interface RunRange {
  run: number;
  from: Uint8Array;
  start: string;
}

const FEW = 4;
// A server is asked less often: more rows take it little longer.
const FEW_OF_SERVER = 16;
const few = rowsFrom(FEW);
// Each is a statement of its own: an unknown number would be taken for a tenth of all rows.
const SIZES = [FEW, 8, 16, 32, 64, 128].map((size) => ({ size, find: rowsFrom(size) }));
const LARGEST = { size: 256, find: rowsFrom(256) };

/** Keys from one to another, both included; no other range begins with the same one. */
export interface KeyRange {
  from: Uint8Array;
  to: Uint8Array;
}

/** Reads the rows of each range, in order, with the one that contains its first key. */
export type RowsWithin = (db: Db, org: number, ranges: readonly KeyRange[]) => Promise<StoredRow[][]>;

/** Reads at most so many rows of each of several ranges by one statement, for an engine that asks another process. */
export function rowsWithin(direction: 'asc' | 'desc', limit: number): RowsWithin {
  const find = statement<StoredRow & { wanted: Uint8Array }>((db, param) => {
    const last = sql`select one.key from search_rows as one
      where one.org_id = ${param('org')} and one.key <= wanted.first order by one.key desc limit 1`;
    const some = sql`select one.key, one.entries from search_rows as one
      where one.org_id = ${param('org')} and one.key >= coalesce((${last}), wanted.first)
        and one.key <= wanted.second order by one.key ${sql.raw(direction)} limit ${sql.lit(limit)}`;
    return written(
      db,
      sql<StoredRow & { wanted: Uint8Array }>`select wanted.first as wanted, found.key, found.entries
        from ${db.engine.bytePairs(param('ranges'))} as wanted cross join lateral (${some}) as found`,
    );
  });
  const sign = direction === 'asc' ? 1 : -1;
  return async (db, org, ranges) => {
    if (ranges.length === 0) return [];
    const pairs = ranges.map(({ from, to }) => [from.toHex(), to.toHex()]);
    const rows = await find(db, { org, ranges: JSON.stringify(pairs) });
    const byRange = Map.groupBy(rows, ({ wanted }) => wanted.toHex());
    return pairs.map(([from = '']) =>
      (byRange.get(from) ?? []).sort((one, other) => sign * Buffer.compare(one.key, other.key)),
    );
  };
}

const fewOfEach = rowsWithin('asc', FEW_OF_SERVER);

/**
 * The lists from a key on that begin in that way, and perhaps some of them that come before it.
 * @param wanted about how many rows are read
 */
export async function findRowsFrom(
  db: Db,
  org: number,
  { run, from, start }: RunRange,
  wanted: number,
): Promise<RunLists> {
  const { size, find } = SIZES.find((one) => one.size >= wanted) ?? LARGEST;
  return listsIn({ run, start }, await find(db, { org, from, end: afterStart(run, start) }), size);
}

/** The same of several runs, of fewer rows. What asks another process asks once. */
export async function findFewRowsFrom(db: Db, org: number, ranges: readonly RunRange[]): Promise<RunLists[]> {
  const keys = ranges.map(({ run, from, start }) => ({ from, to: afterStart(run, start) }));
  if (!db.engine.answersAtOnce) {
    const found = await fewOfEach(db, org, keys);
    return ranges.map((range, index) => listsIn(range, found[index] ?? [], FEW_OF_SERVER));
  }
  const lists: RunLists[] = [];
  for (const [index, range] of ranges.entries()) {
    const rows = await few(db, { org, from: range.from, end: keys[index]?.to ?? null });
    lists.push(listsIn(range, rows, FEW));
  }
  return lists;
}

function listsIn(
  { run, start }: Pick<RunRange, 'run' | 'start'>,
  rows: readonly StoredRow[],
  limit: number,
): RunLists {
  // The row before can be one of another run.
  const lists = rows.flatMap(({ key, entries }) =>
    runOfKey(key) === run ? packedListsFrom(listOfKey(key), entries, start) : [],
  );
  return { lists, isEnd: rows.length < limit };
}

const insert = bulkInsert('search_rows', ['org_id', 'key', 'entries']);

/** Adds rows to a run. */
export async function insertRows(
  trx: Trx,
  orgNumber: number,
  run: number,
  rows: readonly PackedRow[],
): Promise<void> {
  await insert(
    trx,
    rows.map(({ list, place, bytes }) => ({
      ...{ org_id: orgNumber, key: keyBytes({ run, list, place }), entries: bytes },
    })),
  );
}

// Takes a few milliseconds.
const REMOVED_AT_ONCE = 1_000;

const firstKeys = statement<Pick<SearchRow, 'key'>>((db, param) =>
  db
    .selectFrom('search_rows')
    .select('key')
    .where('org_id', '=', param('org'))
    .where('key', '>=', param('from'))
    .where('key', '<', param('end'))
    .orderBy('key')
    .limit(sql.lit(REMOVED_AT_ONCE)),
);

const removal = statement<never>((db, param) =>
  db
    .deleteFrom('search_rows')
    .where('org_id', '=', param('org'))
    .where('key', '>=', param('from'))
    .where('key', '<=', param('last')),
);

/** Removes the first rows of a run; returns whether there are more. */
export async function removeFirstRows(trx: Trx, org: number, run: number): Promise<boolean> {
  const from = runKeyStart(run, '');
  const keys = await firstKeys(trx, { org, from, end: afterStart(run, '') });
  const last = keys.at(-1);
  if (last === undefined) return false;
  await removal(trx, { org, from, last: last.key });
  return keys.length === REMOVED_AT_ONCE;
}

const removalBefore = statement<never>((db, param) =>
  db
    .deleteFrom('search_rows')
    .where('org_id', '=', param('org'))
    .where('key', '>=', param('from'))
    .where(
      'key',
      '<',
      sql<Uint8Array>`(select one.key from search_rows as one
        where one.org_id = ${param('org')} and one.key <= ${param('key')} order by one.key desc limit 1)`,
    ),
);

/** Removes the rows of a run before the one that contains a key. */
export async function removeRowsBefore(trx: Trx, org: number, run: number, key: Uint8Array): Promise<void> {
  await removalBefore(trx, { org, from: runKeyStart(run, ''), key });
}
