// Reads and writes the rows of the search index, and finds the parts of lists in them.

import { sql } from 'kysely';
import { bulkInsert } from '../engine/bulk-insert.ts';
import type { Db, Trx } from '../engine/schema.ts';
import type { SearchRow } from '../engine/search-rows.ts';
import { statement, written } from '../engine/statement.ts';
import { TimeSlices } from '../event-loop.ts';
import { type Entries, firstPlace } from './search-blocks.ts';
import { afterStart, type IndexKey, keyBytes, listOf, runKeyStart, runOf } from './search-keys.ts';
import { entriesOf, type PackedList, type PackedRow, packedList, packedListsFrom } from './search-packing.ts';
import { comparePlaces, type SearchPlace } from './search-places.ts';

type StoredRow = Pick<SearchRow, 'key' | 'entries'>;

/** A part of a list in a run: all of its entries from the first one of the part to that of the next. */
export class ListPart {
  readonly first: SearchPlace;
  readonly #packed: PackedList;
  #entries: Entries | null = null;

  constructor(packed: PackedList) {
    this.first = firstPlace(packed.bytes, packed.start);
    this.#packed = packed;
  }

  /** Read when they are needed first. */
  get entries(): Entries {
    this.#entries ??= entriesOf(this.#packed);
    return this.#entries;
  }
}

const lastUpTo = statement<StoredRow>((db, param) =>
  db
    .selectFrom('search_rows')
    .select(['key', 'entries'])
    .where('org_id', '=', param('org'))
    .where('key', '<=', param('key'))
    .orderBy('key', 'desc')
    .limit(1),
);

const lastUpToEach = statement<StoredRow>((db, param) => {
  const last = sql`select one.key from search_rows as one
    where one.org_id = ${param('org')} and one.key <= wanted.first order by one.key desc limit 1`;
  const entries = sql`select one.entries from search_rows as one
    where one.org_id = ${param('org')} and one.key = found.key`;
  return written(
    db,
    sql<StoredRow>`select found.key, (${entries}) as entries from (
      select distinct (${last}) as key from ${db.engine.bytePairs(param('keys'))} as wanted
    ) as found where found.key is not null`,
  );
});

/** The parts of lists that contain these places, or those before them; null where the run has nothing of the list there. */
export async function findParts(
  db: Db,
  orgNumber: number,
  wanted: readonly IndexKey[],
): Promise<(ListPart | null)[]> {
  if (wanted.length === 0) return [];
  return db.engine.answersAtOnce ? findOneByOne(db, orgNumber, wanted) : findTogether(db, orgNumber, wanted);
}

async function findOneByOne(db: Db, org: number, wanted: readonly IndexKey[]): Promise<(ListPart | null)[]> {
  const parts: (ListPart | null)[] = [];
  const turns = new TimeSlices();
  // What was found last of each list: most places after one are in the same part.
  const found = new Map<string, { at: SearchPlace; part: ListPart | null }>();
  for (const one of wanted) {
    const name = `${one.run} ${one.list}`;
    const last = found.get(name);
    let part = last?.part ?? null;
    if (last === undefined || !isKnown(last, one.place)) {
      if (turns.isOver) await turns.next();
      const answer = lastUpTo(db, { org, key: keyBytes(one) });
      const [row] = answer instanceof Promise ? await answer : answer;
      part = row === undefined ? null : partIn(row, one);
      found.set(name, { at: one.place, part });
    }
    parts.push(part);
  }
  return parts;
}

// Whether a part that contains a place, or comes before it, is also the one for another place.
function isKnown({ at, part }: { at: SearchPlace; part: ListPart | null }, place: SearchPlace): boolean {
  return comparePlaces(place, at) <= 0 && (part === null || comparePlaces(part.first, place) <= 0);
}

async function findTogether(db: Db, org: number, wanted: readonly IndexKey[]): Promise<(ListPart | null)[]> {
  const keys = wanted.map(keyBytes);
  const rows = await lastUpToEach(db, { org, keys: JSON.stringify(keys.map((key) => [key.toHex()])) });
  const inOrder = rows.toSorted((one, other) => Buffer.compare(one.key, other.key));
  const parts = new Map<string, ListPart | null>();
  return wanted.map((one, index) => {
    const at = lastAt(inOrder, keys[index] as Buffer);
    const row = inOrder[at];
    return row === undefined ? null : parts.getOrInsertComputed(`${at} ${one.list}`, () => partIn(row, one));
  });
}

// Where the last row is whose key does not come after the given one; -1 if there is none.
function lastAt(rows: readonly StoredRow[], key: Uint8Array): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (Buffer.compare((rows[middle] as StoredRow).key, key) <= 0) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function partIn({ key, entries }: StoredRow, { run, list }: IndexKey): ListPart | null {
  const packed = runOf(key) === run ? packedList(listOf(key), entries, list) : null;
  return packed && new ListPart(packed);
}

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

const MANY = 64;
const FEW = 4;
const many = rowsFrom(MANY);
const few = rowsFrom(FEW);

/** The lists from a key on that begin in that way, and perhaps some of them that come before it. */
export async function findRowsFrom(db: Db, org: number, { run, from, start }: RunRange): Promise<RunLists> {
  return listsIn({ run, start }, await many(db, { org, from, end: afterStart(run, start) }), MANY);
}

/** The same, of fewer rows. */
export async function findFewRowsFrom(
  db: Db,
  org: number,
  { run, from, start }: RunRange,
): Promise<RunLists> {
  return listsIn({ run, start }, await few(db, { org, from, end: afterStart(run, start) }), FEW);
}

function listsIn(
  { run, start }: Pick<RunRange, 'run' | 'start'>,
  rows: readonly StoredRow[],
  limit: number,
): RunLists {
  // The row before can be one of another run.
  const lists = rows.flatMap(({ key, entries }) =>
    runOf(key) === run ? packedListsFrom(listOf(key), entries, start) : [],
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
