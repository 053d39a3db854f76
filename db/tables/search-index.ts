// Changes lists of the search index: in bulk, so that each block is read and written once for many records.

import type { Trx } from '../engine/schema.ts';
import { TimeSlices } from '../event-loop.ts';
import { BLOCK_BYTES_MAX, encodeEntries, lastPlace, mergeEntries } from './search-blocks.ts';
import {
  findBlocks,
  findFirstBlock,
  type ListPlace,
  putBlocks,
  readBlock,
  removeBlocks,
  type StoredBlock,
} from './search-lists.ts';
import { comparePlaces, LAST_PLACE, type SearchEntry, type SearchPlace } from './search-places.ts';

interface ListChange {
  added: SearchEntry[];
  removed: SearchPlace[];
}

/** Changes of lists that are made together. */
export class IndexChanges {
  readonly #lists = new Map<string, ListChange>();

  /** How many lists they change. */
  get size(): number {
    return this.#lists.size;
  }

  /** Adds a record to lists; in those that have it nothing changes. */
  add(entry: SearchEntry, lists: Iterable<string>): void {
    for (const list of lists) this.#of(list).added.push(entry);
  }

  /** Removes a record from lists; in those that do not have it nothing changes. */
  remove(place: SearchPlace, lists: Iterable<string>): void {
    for (const list of lists) this.#of(list).removed.push(place);
  }

  #of(list: string): ListChange {
    let change = this.#lists.get(list);
    if (change === undefined) {
      change = { added: [], removed: [] };
      this.#lists.set(list, change);
    }
    return change;
  }

  /** Writes them. */
  async save(trx: Trx, orgNumber: number): Promise<void> {
    for (const { added, removed } of this.#lists.values()) {
      if (added.length > 1) added.sort(comparePlaces);
      if (removed.length > 1) removed.sort(comparePlaces);
    }
    // Most lists change in their last block only.
    let left = await changeBlocks(trx, orgNumber, this.#lists, () => LAST_PLACE);
    while (left.size > 0) left = await changeBlocks(trx, orgNumber, left, newestOf);
    this.#lists.clear();
  }
}

// Changes the block of each list at a place; returns the changes that belong in other blocks.
async function changeBlocks(
  trx: Trx,
  orgNumber: number,
  lists: ReadonlyMap<string, ListChange>,
  placeOf: (change: ListChange) => SearchPlace,
): Promise<Map<string, ListChange>> {
  const wanted = [...lists].map(([list, change]): ListPlace => [list, placeOf(change)]);
  const found = new Map((await findBlocks(trx, orgNumber, wanted)).map((block) => [block.list, block]));
  const left = new Map<string, ListChange>();
  const stored: StoredBlock[] = [];
  const gone: StoredBlock[] = [];
  const turns = new TimeSlices();
  for (const [list, change] of lists) {
    if (turns.isOver) await turns.next();
    const last = found.get(list);
    const isLast = placeOf(change) === LAST_PLACE;
    // What is before the first block goes into it.
    const block = last ?? (isLast ? undefined : await findFirstBlock(trx, orgNumber, list));
    const [mine, before] = last === undefined ? [change, null] : splitAt(change, last.first);
    if (before !== null) left.set(list, before);
    if (block === undefined) stored.push(...blocksOf(list, mine.added, true));
    else if (!append(block, mine, stored)) changeBlock(block, mine, { stored, gone });
  }
  await removeBlocks(trx, orgNumber, gone);
  await putBlocks(trx, orgNumber, stored);
  return left;
}

// The usual change: only what is newer is added. False if it is another one.
function append({ list, first, bytes }: StoredBlock, change: ListChange, stored: StoredBlock[]): boolean {
  const [oldest] = change.added;
  if (oldest === undefined || change.removed.length > 0) return false;
  const last = lastPlace(first, bytes);
  if (comparePlaces(oldest, last) <= 0) return false;
  const added = encodeEntries(change.added, last).bytes;
  if (bytes.length + added.length <= BLOCK_BYTES_MAX)
    stored.push({ list, first, bytes: Buffer.concat([bytes, added]) });
  else stored.push(...blocksOf(list, change.added, true));
  return true;
}

function changeBlock(
  block: StoredBlock,
  { added, removed }: ListChange,
  { stored, gone }: { stored: StoredBlock[]; gone: StoredBlock[] },
): void {
  const { entries } = readBlock(block);
  const merged = mergeEntries(entries, added, removed);
  if (isSame(merged, entries)) return;
  const [first] = merged;
  if (first === undefined || comparePlaces(first, block.first) !== 0) gone.push(block);
  stored.push(...blocksOf(block.list, merged, merged.at(-1) !== entries.at(-1)));
}

function newestOf({ added, removed }: ListChange): SearchPlace {
  const [one, other] = [added.at(-1), removed.at(-1)];
  if (one === undefined || other === undefined) return (one ?? other) as SearchPlace;
  return comparePlaces(one, other) > 0 ? one : other;
}

// What is at a place or after it, and what is before it.
function splitAt({ added, removed }: ListChange, first: SearchPlace): [ListChange, ListChange | null] {
  const isAfter = (place: SearchPlace) => comparePlaces(place, first) >= 0;
  const isBefore = (place: SearchPlace) => !isAfter(place);
  const before = { added: added.filter(isBefore), removed: removed.filter(isBefore) };
  if (before.added.length + before.removed.length === 0) return [{ added, removed }, null];
  return [{ added: added.filter(isAfter), removed: removed.filter(isAfter) }, before];
}

function isSame(some: readonly SearchEntry[], others: readonly SearchEntry[]): boolean {
  if (some.length !== others.length) return false;
  return some.every((one, index) => {
    const other = others[index] as SearchEntry;
    return comparePlaces(one, other) === 0 && one.resource === other.resource;
  });
}

// A list that grows at its end has full blocks; one that grows elsewhere has room in each.
function blocksOf(list: string, entries: readonly SearchEntry[], growsAtEnd: boolean): StoredBlock[] {
  const [oldest] = entries;
  if (oldest === undefined) return [];
  const whole = encodeEntries(entries, oldest).bytes;
  if (whole.length <= BLOCK_BYTES_MAX) return [{ list, first: oldest, bytes: whole }];
  const parts = Math.ceil(whole.length / BLOCK_BYTES_MAX);
  const bytesMax = growsAtEnd ? BLOCK_BYTES_MAX : Math.ceil(whole.length / parts);
  const blocks: StoredBlock[] = [];
  for (let from = 0; from < entries.length; ) {
    const first = entries[from] as SearchEntry;
    const { bytes, count } = encodeEntries(entries, first, from, bytesMax);
    blocks.push({ list, first, bytes });
    from += count;
  }
  return blocks;
}
