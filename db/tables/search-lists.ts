// The lists of the search index, one for each word: their names, and how their blocks are read and written.

import { sql } from 'kysely';
import { bulkInsert } from '../engine/bulk-insert.ts';
import type { Db, Trx } from '../engine/schema.ts';
import type { SearchWordsRow } from '../engine/search-rows.ts';
import { statement, written } from '../engine/statement.ts';
import type { TextTier } from '../model/searched.ts';
import { decodeBlock } from './search-blocks.ts';
import { placeBytes, placeOfBytes, type SearchEntry, type SearchPlace } from './search-places.ts';

const KINDS = { name: 'n', text: 't', resource: 'r', owner: 'o' } as const;

/** What the records of a list have in common: a word, their resource, or their owner. */
export type ListKind = keyof typeof KINDS;

/** Whether that is the name of a list of that kind. */
export function isOfKind(list: string, kind: ListKind): boolean {
  return list.startsWith(KINDS[kind]);
}

/** The name of the list of the records that have a word in a text of that tier. */
export function wordList(tier: TextTier, word: string): string {
  return KINDS[tier] + word;
}

/** The name of the list of all records of a resource, by its number. */
export function resourceList(resource: number): string {
  return `${KINDS.resource}${resource}`;
}

/** The name of the list of all records of an owner. */
export function ownerList(ownerId: string): string {
  return KINDS.owner + ownerId;
}

/** A block of a list, as it is stored. */
export interface StoredBlock {
  list: string;
  first: SearchPlace;
  bytes: Uint8Array;
}

/** A block of a list. */
export interface SearchBlock {
  list: string;
  first: SearchPlace;
  /** From the oldest to the newest. */
  entries: SearchEntry[];
}

/** A place in a list. */
export type ListPlace = readonly [list: string, place: SearchPlace];

type BlockRow = Pick<SearchWordsRow, 'word' | 'first' | 'entries'>;

const lastAt = statement<Omit<BlockRow, 'word'>>((db, param) =>
  db
    .selectFrom('search_words')
    .select(['first', 'entries'])
    .where('org_id', '=', param('org'))
    .where('word', '=', param('word'))
    .where('first', '<=', param('place'))
    .orderBy('first', 'desc')
    .limit(1),
);

const lastAtEach = statement<BlockRow>((db, param) => {
  const older = sql`select block.first from search_words as block
    where block.org_id = ${param('org')} and block.word = wanted.first and block.first <= wanted.second
    order by block.first desc limit 1`;
  const wanted = db.engine.bytePairs(param('places'));
  const entries = sql`select block.entries from search_words as block
    where block.org_id = ${param('org')} and block.word = place.word and block.first = place.first`;
  return written(
    db,
    sql<BlockRow>`select place.word, place.first, (${entries}) as entries from (
      select distinct wanted.first as word, (${older}) as first from ${wanted} as wanted
    ) as place where place.first is not null`,
  );
});

/** The blocks that contain these places: of each list the last one that begins no later. Each comes once, in no order. */
export async function findBlocks(
  db: Db,
  orgNumber: number,
  places: readonly ListPlace[],
): Promise<StoredBlock[]> {
  if (places.length === 0) return [];
  if (db.engine.answersAtOnce) return findEach(db, orgNumber, places);
  const pairs = places.map(([list, place]) => [Buffer.from(list).toHex(), placeBytes(place).toHex()]);
  return (await lastAtEach(db, { org: orgNumber, places: JSON.stringify(pairs) })).map(blockOf);
}

async function findEach(db: Db, org: number, places: readonly ListPlace[]): Promise<StoredBlock[]> {
  const found = new Map<string, StoredBlock>();
  for (const [list, place] of places) {
    const answer = lastAt(db, { org, word: Buffer.from(list), place: placeBytes(place) });
    const [row] = answer instanceof Promise ? await answer : answer;
    if (row === undefined) continue;
    const first = placeOfBytes(row.first);
    found.set(`${first.ms} ${first.count} ${list}`, { list, first, bytes: row.entries });
  }
  return [...found.values()];
}

function blockOf({ word, first, entries }: BlockRow): StoredBlock {
  return { list: Buffer.from(word).toString(), first: placeOfBytes(first), bytes: entries };
}

/** The block with its entries. */
export function readBlock({ list, first, bytes }: StoredBlock): SearchBlock {
  return { list, first, entries: decodeBlock(first, bytes) };
}

const firstBlock = statement<Omit<BlockRow, 'word'>>((db, param) =>
  db
    .selectFrom('search_words')
    .select(['first', 'entries'])
    .where('org_id', '=', param('org'))
    .where('word', '=', param('word'))
    .orderBy('first')
    .limit(1),
);

/** The first block of a list. */
export async function findFirstBlock(
  db: Db,
  orgNumber: number,
  list: string,
): Promise<StoredBlock | undefined> {
  const [row] = await firstBlock(db, { org: orgNumber, word: Buffer.from(list) });
  return row && blockOf({ word: Buffer.from(list), ...row });
}

const names = statement<{ word: Uint8Array }>((db, param) => {
  const next = (after: ReturnType<typeof sql>) => sql`(select block.word from search_words as block
    where block.org_id = ${param('org')} and ${after} and block.word < ${param('end')} order by block.word limit 1)`;
  return written(
    db,
    sql<{ word: Uint8Array }>`with recursive found (word) as (
      select ${next(sql`block.word >= ${param('start')}`)}
      union all
      select ${next(sql`block.word > found.word`)} from found where found.word is not null
    ) select word from found where word is not null limit ${param('limit')}`,
  );
});

/** The names of lists that begin in that way, in order. */
export async function findLists(db: Db, orgNumber: number, start: string, limit: number): Promise<string[]> {
  const rows = await names(db, { org: orgNumber, ...rangeOf(start), limit });
  return rows.map(({ word }) => Buffer.from(word).toString());
}

const blocks = statement<BlockRow>((db, param) =>
  db
    .selectFrom('search_words')
    .select(['word', 'first', 'entries'])
    .where('org_id', '=', param('org'))
    .where('word', '>=', param('start'))
    .where('word', '<', param('end'))
    .orderBy('word')
    .orderBy('first')
    .limit(param('limit')),
);

/**
 * The blocks of all lists whose names begin in that way; null if there are more than so many, or they are longer.
 * @param bytesMax of all of them together
 */
export async function listBlocks(
  db: Db,
  orgNumber: number,
  start: string,
  { blocksMax, bytesMax }: { blocksMax: number; bytesMax: number },
): Promise<SearchBlock[] | null> {
  let bytes = 0;
  let count = 0;
  const takes = ({ entries }: BlockRow) => {
    count += 1;
    bytes += entries.length;
    return count <= blocksMax && bytes <= bytesMax;
  };
  const rows = await blocks(db, { org: orgNumber, ...rangeOf(start), limit: blocksMax + 1 }, takes);
  return rows.length < count ? null : rows.map((row) => readBlock(blockOf(row)));
}

// No byte of UTF-8 is the greatest one.
function rangeOf(start: string): { start: Uint8Array; end: Uint8Array } {
  const end = Buffer.from(start);
  end.writeUInt8(end.readUInt8(end.length - 1) + 1, end.length - 1);
  return { start: Buffer.from(start), end };
}

const KEY = ['org_id', 'word', 'first'];
const put = bulkInsert('search_words', [...KEY, 'entries'], { key: KEY });

/** Writes blocks, instead of those that begin at the same places. */
export async function putBlocks(trx: Trx, orgNumber: number, some: readonly StoredBlock[]): Promise<void> {
  const rows = some.map(({ list, first, bytes }) => ({
    ...{ org_id: orgNumber, word: Buffer.from(list), first: placeBytes(first), entries: bytes },
  }));
  await put(trx, rows);
}

const removal = statement<never>((db, param) =>
  db
    .deleteFrom('search_words')
    .where('org_id', '=', param('org'))
    .where('word', '=', param('word'))
    .where('first', '=', param('first')),
);

/** Removes blocks. */
export async function removeBlocks(
  trx: Trx,
  orgNumber: number,
  some: readonly Omit<StoredBlock, 'bytes'>[],
): Promise<void> {
  for (const { list, first } of some)
    await removal(trx, { org: orgNumber, word: Buffer.from(list), first: placeBytes(first) });
}

const firstWords = statement<Pick<SearchWordsRow, 'word'>>((db, param) =>
  db
    .selectFrom('search_words')
    .select('word')
    .where('org_id', '=', param('org'))
    .orderBy('word')
    .limit(param('limit')),
);

const removalUpTo = statement<never>((db, param) =>
  db.deleteFrom('search_words').where('org_id', '=', param('org')).where('word', '<=', param('word')),
);

/** Removes the first lists of an organization, with about so many blocks; returns whether there were any. */
export async function removeFirstLists(trx: Trx, orgNumber: number, blocks: number): Promise<boolean> {
  const last = (await firstWords(trx, { org: orgNumber, limit: blocks })).at(-1);
  if (last === undefined) return false;
  await removalUpTo(trx, { org: orgNumber, word: last.word });
  return true;
}
