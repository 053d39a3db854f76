// Finds the parts of lists in the rows of the search index.

import { sql } from 'kysely';
import { andThen, type Eventually } from '../engine/engine.ts';
import type { Db } from '../engine/schema.ts';
import { statement, written } from '../engine/statement.ts';
import { TimeSlices } from '../event-loop.ts';
import { firstPlace } from './blocks.ts';
import type { EntryColumns } from './columns.ts';
import { type IndexKey, keyBytes, listOfKey, placeOfKey, runOfKey } from './keys.ts';
import { rowsWithin, type StoredRow } from './lists.ts';
import { columnsIn, type PackedList, packedList } from './packing.ts';
import { isLater, type SearchPlace } from './places.ts';

/** A part of a list in a run: all of its entries from the first one of the part to that of the next. */
export class ListPart {
  readonly first: SearchPlace;
  /** Whether it is all that the run has of the list. */
  readonly isWhole: boolean;
  readonly #packed: PackedList;
  #entries: EntryColumns | null = null;

  constructor(packed: PackedList, isWhole: boolean, first = firstPlace(packed.bytes, packed.start)) {
    this.first = first;
    this.isWhole = isWhole;
    this.#packed = packed;
  }

  /** Read when they are needed first. */
  get entries(): EntryColumns {
    this.#entries ??= columnsIn(this.#packed);
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
    .limit(param('limit')),
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

/**
 * The part for one of them, and the parts of the list before it: at most so many, the newest first. Each of those takes a tenth
 * of the time of the first. An engine that can returns at once.
 */
export function findPartsBefore(
  db: Db,
  org: number,
  wanted: IndexKey,
  limit: number,
): Eventually<ListPart[]> {
  return andThen(lastUpTo(db, { org, key: keyBytes(wanted), limit }), (rows) => partsIn(rows, wanted));
}

// The rows are those of a list, from the newest on, and perhaps of the lists before it.
function partsIn(rows: readonly StoredRow[], wanted: Pick<IndexKey, 'run' | 'list'>): ListPart[] {
  const parts: ListPart[] = [];
  for (const row of rows) {
    const part = partIn(row, wanted);
    if (part === null) break;
    parts.push(part);
    if (part.isWhole) break;
  }
  return parts;
}

/** What is read of a list: the parts for all places from the key on down to another place. */
export interface PartRange extends IndexKey {
  downTo: SearchPlace;
}

/** So many parts of a range are read at once; the others are read when they are needed. */
export const RANGE_PARTS_MAX = 64;

// So many of a list that is read on, and then so many more each time.
const NEXT_PARTS = 4;
const FURTHER_PARTS = 16;

type FindWithin = (db: Db, org: number, ranges: readonly PartRange[]) => Promise<ListPart[][]>;

/** The parts of some ranges, each from the newest on. To find each part by its place takes several times as long. */
export const findPartsWithin: FindWithin = partsWithin(RANGE_PARTS_MAX);

/** The same, but the first few of each. */
export const findNextParts: FindWithin = partsWithin(NEXT_PARTS);

/** The same, but more of each. */
export const findFurtherParts: FindWithin = partsWithin(FURTHER_PARTS);

function partsWithin(limit: number): FindWithin {
  const within = rowsWithin('desc', limit);
  return async (db, org, ranges) => {
    const keys = ranges.map((range) => ({
      from: keyBytes({ ...range, place: range.downTo }),
      to: keyBytes(range),
    }));
    const rows = await within(db, org, keys);
    return ranges.map((range, index) => partsIn(rows[index] ?? [], range));
  };
}

async function findOneByOne(db: Db, org: number, wanted: readonly IndexKey[]): Promise<(ListPart | null)[]> {
  const parts: (ListPart | null)[] = [];
  const turns = new TimeSlices();
  let last: IndexKey | undefined;
  let part: ListPart | null = null;
  for (const one of wanted) {
    if (last === undefined || !isPartFor(one, last, part)) {
      if (turns.isOver) await turns.next();
      const found = findPartsBefore(db, org, one, 1);
      [part = null] = found instanceof Promise ? await found : found;
      last = one;
    }
    parts.push(part);
  }
  return parts;
}

// Whether what was found last is what is wanted, too: most places of a list are asked from the newest to the oldest.
function isPartFor(one: IndexKey, last: IndexKey, part: ListPart | null): boolean {
  if (one.run !== last.run || one.list !== last.list || isLater(one.place, last.place)) return false;
  return part === null || part.isWhole || !isLater(part.first, one.place);
}

async function findTogether(db: Db, org: number, wanted: readonly IndexKey[]): Promise<(ListPart | null)[]> {
  const keys = wanted.map(keyBytes);
  const rows = await lastUpToEach(db, { org, keys: JSON.stringify(keys.map((key) => [key.toHex()])) });
  const inOrder = rows.toSorted((one, other) => Buffer.compare(one.key, other.key));
  const parts = new Map<string, ListPart | null>();
  return wanted.map((one, index) => {
    const at = lastAt(inOrder, keys[index] as Buffer);
    const row = inOrder[at];
    const { run, list } = one;
    return row === undefined
      ? null
      : parts.getOrInsertComputed(`${at} ${run} ${list}`, () => partIn(row, one));
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

function partIn({ key, entries }: StoredRow, { run, list }: Pick<IndexKey, 'run' | 'list'>): ListPart | null {
  if (runOfKey(key) !== run) return null;
  const first = listOfKey(key);
  const packed = packedList(first, entries, list);
  if (packed === null) return null;
  // A row begins at the place that its key has.
  return first === list ? new ListPart(packed, false, placeOfKey(key)) : new ListPart(packed, true);
}
