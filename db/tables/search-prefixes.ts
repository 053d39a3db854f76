// Finds what the search index has of all words that begin in some way.

import type { Db } from '../engine/schema.ts';
import { type Entries, mergeEntries, REMOVED } from './search-blocks.ts';
import { afterList, runKeyStart } from './search-keys.ts';
import { findFewRowsFrom } from './search-lists.ts';
import { entriesOf } from './search-packing.ts';
import type { Run } from './search-runs.ts';

// Of all beginnings in a query.
const ENTRIES_MAX = 3_000;
const LONG_LISTS_MAX = 64;
// Each skips the rest of a long list.
const STEPS_MAX = 16;

/** What is known of lists that begin in some way. */
export interface BegunLists {
  /** The names of long lists, which are read as a search needs them. */
  long: string[];
  /** The entries of all others. */
  known: { name: string; entries: Entries };
  /** How many entries they have. */
  examined: number;
}

/**
 * The entries of all lists that begin in some way; null if they are too many.
 * @param share which part of what can be looked at this may
 */
export async function findBegun(
  db: Db,
  orgNumber: number,
  { runs, start, share }: { runs: readonly Run[]; start: string; share: number },
): Promise<BegunLists | null> {
  const found = new Begun(share);
  // The largest run tells soonest that it is too much.
  const reading = runs.toReversed().map(({ run }) => ({ run, from: runKeyStart(run, start), after: '' }));
  for (let step = 0, left = reading; left.length > 0; step++) {
    if (step === STEPS_MAX) return null;
    const read = left.map(async (one) => {
      if (found.isTooMuch) return [];
      const { lists, isEnd } = await findFewRowsFrom(db, orgNumber, { ...one, start });
      const last = lists.at(-1)?.list ?? '';
      const parts = Map.groupBy(lists, ({ list }) => list);
      for (const [list, [part, ...others]] of parts) {
        if (!list.startsWith(start) || list <= one.after) continue;
        // What comes after the rows can be of the last list.
        if (part === undefined || others.length > 0 || (list === last && !isEnd)) found.long.add(list);
        else found.note(list, one.run, entriesOf(part));
      }
      return isEnd ? [] : [{ run: one.run, from: afterList(one.run, last), after: last }];
    });
    left = (await Promise.all(read)).flat();
    if (found.isTooMuch) return null;
  }
  const known = { name: start, entries: found.entries(runs) };
  return { long: [...found.long], known, examined: found.count };
}

class Begun {
  readonly long = new Set<string>();
  count = 0;
  readonly #short = new Map<string, Map<number, Entries>>();
  readonly #share: number;

  constructor(share: number) {
    this.#share = share;
  }

  get isTooMuch(): boolean {
    return this.count > ENTRIES_MAX * this.#share || this.long.size > LONG_LISTS_MAX * this.#share;
  }

  note(list: string, run: number, entries: Entries): void {
    this.#short.getOrInsertComputed(list, () => new Map()).set(run, entries);
    this.count += entries.length;
  }

  /** Those of the short lists, each once. */
  entries(runs: readonly Run[]): Entries {
    const some: Entries[] = [];
    for (const [list, byRun] of this.#short) {
      if (this.long.has(list)) continue;
      const merged = mergeEntries(runs.flatMap(({ run }) => [byRun.get(run) ?? []]));
      some.push(merged.filter(({ resource }) => resource !== REMOVED));
    }
    return mergeEntries(some);
  }
}
