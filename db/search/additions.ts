// Adds to the search index what changes in its lists: a run of its own, so that nothing else is read or written.

import type { Trx } from '../engine/schema.ts';
import { TimeSlices } from '../event-loop.ts';
import { type Entries, REMOVED } from './blocks.ts';
import { insertRows } from './lists.ts';
import { RowPacker } from './packing.ts';
import { comparePlaces, LAST_PLACE, placeBytes, type SearchEntry, type SearchPlace } from './places.ts';
import { findRuns, insertRun, nextNumber } from './runs.ts';

const LISTS_PER_LOOK = 64;

/** Changes of lists that are made together: those of one record before those of the next, and for each list only one. */
export class IndexChanges {
  readonly #lists = new Map<string, SearchEntry[]>();
  #latest: SearchEntry | null = null;
  #removals = 0;
  #size = 0;
  #low = LAST_PLACE;
  #high: SearchPlace = { ms: 0, count: 0 };

  /** How many entries of lists they are. */
  get size(): number {
    return this.#size;
  }

  /** The lists that change. */
  get lists(): Iterable<string> {
    return this.#lists.keys();
  }

  /** Adds a record to a list, or its removal, as `removalOf` makes it; where the list has that already, nothing changes. */
  add(entry: SearchEntry, list: string): void {
    if (entry !== this.#latest) this.#begin(entry);
    const entries = this.#lists.get(list);
    if (entries === undefined) this.#lists.set(list, [entry]);
    else if (entries[entries.length - 1] === entry) return;
    else entries.push(entry);
    this.#size += 1;
    if (entry.resource === REMOVED) this.#removals += 1;
  }

  /** Whether the latest entry was added to a list. */
  has(entry: SearchEntry, list: string): boolean {
    return this.#lists.get(list)?.at(-1) === entry;
  }

  #begin(entry: SearchEntry): void {
    this.#latest = entry;
    if (comparePlaces(entry, this.#low) < 0) this.#low = entry;
    if (comparePlaces(entry, this.#high) > 0) this.#high = entry;
  }

  /** Writes them. */
  async save(trx: Trx, orgNumber: number): Promise<void> {
    if (this.#size === 0) return;
    const packer = new RowPacker();
    const turns = new TimeSlices();
    let lists = 0;
    for (const list of [...this.#lists.keys()].sort()) {
      packer.add(list, inOrder(this.#lists.get(list) ?? []), true);
      if (++lists % LISTS_PER_LOOK === 0 && turns.isOver) await turns.next();
    }
    packer.flush();
    const runs = await findRuns(trx, orgNumber);
    const run = nextNumber(runs);
    await insertRun(trx, {
      ...{ org_id: orgNumber, run, age: (runs[0]?.age ?? 0) + 1 },
      ...{ bytes: packer.bytes, removals: this.#removals },
      ...{ low: placeBytes(this.#low), high: placeBytes(this.#high) },
      ...{ is_built: 1, done: null, merged_into: null, gone_at: null },
    });
    await insertRows(trx, orgNumber, run, packer.rows);
  }
}

function inOrder(entries: SearchEntry[]): Entries {
  return entries.length > 1 ? entries.sort(comparePlaces) : entries;
}
