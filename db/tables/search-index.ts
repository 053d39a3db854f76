// Changes lists of the search index: in bulk, so that each block is read and written once for many records.

import type { Trx } from '../engine/schema.ts';
import { BLOCK_BYTES_MAX, encodeBlock, mergeEntries } from './search-blocks.ts';
import {
  findBlocks,
  type ListPlace,
  putBlocks,
  removeBlocks,
  type SearchBlock,
  type StoredBlock,
} from './search-lists.ts';
import { comparePlaces, type SearchEntry, type SearchPlace } from './search-places.ts';

interface ListChange {
  added: SearchEntry[];
  removed: SearchPlace[];
}

/** Changes of lists that are made together. */
export class IndexChanges {
  readonly #lists = new Map<string, ListChange>();

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
      added.sort(comparePlaces);
      removed.sort(comparePlaces);
    }
    let left = new Map(this.#lists);
    // Most lists change in their last block only.
    while (left.size > 0) left = await changeLast(trx, orgNumber, left);
    this.#lists.clear();
  }
}

// Changes the blocks of the newest of the places; returns the changes of those before them.
async function changeLast(
  trx: Trx,
  orgNumber: number,
  lists: ReadonlyMap<string, ListChange>,
): Promise<Map<string, ListChange>> {
  const wanted = [...lists].map(([list, change]): ListPlace => [list, newestOf(change)]);
  const found = new Map((await findBlocks(trx, orgNumber, wanted)).map((block) => [block.list, block]));
  const left = new Map<string, ListChange>();
  const stored: StoredBlock[] = [];
  const gone: SearchBlock[] = [];
  for (const [list, change] of lists) {
    const block = found.get(list);
    // Before the first block there is nothing.
    const isFirst = block === undefined || comparePlaces(block.first, newestOf(change)) > 0;
    const [mine, before] = isFirst ? [change, null] : splitAt(change, block.first);
    if (before !== null) left.set(list, before);
    const entries = block?.entries ?? [];
    const merged = mergeEntries(entries, mine.added, mine.removed);
    if (isSame(merged, entries)) continue;
    const isRenamed = block !== undefined && !(merged[0] && comparePlaces(merged[0], block.first) === 0);
    if (isRenamed) gone.push(block);
    stored.push(...blocksOf(list, merged, merged.at(-1) !== entries.at(-1)));
  }
  await removeBlocks(trx, orgNumber, gone);
  await putBlocks(trx, orgNumber, stored);
  return left;
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
  const whole = encodeBlock(entries, 0, Number.POSITIVE_INFINITY).bytes;
  const parts = Math.ceil(whole.length / BLOCK_BYTES_MAX);
  const bytesMax = growsAtEnd ? BLOCK_BYTES_MAX : Math.ceil(whole.length / parts);
  const blocks: StoredBlock[] = [];
  for (let from = 0; from < entries.length; ) {
    const { bytes, end } = encodeBlock(entries, from, bytesMax);
    blocks.push({ list, first: entries[from] as SearchEntry, bytes });
    from = end;
  }
  return blocks;
}
