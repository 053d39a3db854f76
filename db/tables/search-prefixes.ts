// Finds what the search index has of all words that begin in some way.

import type { Db } from '../engine/schema.ts';
import { type Entries, mergeEntries, REMOVED } from './search-blocks.ts';
import { afterList, runKeyStart } from './search-keys.ts';
import { findFewRowsFrom, type RunLists } from './search-lists.ts';
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
 * For each of some beginnings, the entries of all lists that begin in that way; null if they are too many.
 * @param share which part of what can be looked at each may
 */
export async function findBegun(
  db: Db,
  orgNumber: number,
  { runs, starts, share }: { runs: readonly Run[]; starts: readonly string[]; share: number },
): Promise<(BegunLists | null)[]> {
  const found = starts.map((start) => new Begun(start, share));
  // The largest run tells soonest that it is too much.
  let left = found.flatMap((begun) =>
    runs
      .toReversed()
      .map(({ run }): Reading => ({ begun, run, from: runKeyStart(run, begun.start), after: '' })),
  );
  for (let step = 0; left.length > 0 && step < STEPS_MAX; step++) {
    const next: Reading[] = [];
    for (const group of db.engine.answersAtOnce ? left.map((one) => [one]) : [left]) {
      const some = group.filter(({ begun }) => !begun.isTooMuch);
      const ranges = some.map(({ begun, run, from }) => ({ run, from, start: begun.start }));
      const read = await findFewRowsFrom(db, orgNumber, ranges);
      for (const [index, one] of some.entries()) next.push(...one.begun.noteAll(one, read[index] ?? NOTHING));
    }
    left = next.filter(({ begun }) => !begun.isTooMuch);
  }
  const unfinished = new Set(left.map(({ begun }) => begun));
  return found.map((begun) => (begun.isTooMuch || unfinished.has(begun) ? null : begun.lists(runs)));
}

// What is still to be read of a run: from a key on, what comes after a list.
interface Reading {
  begun: Begun;
  run: number;
  from: Uint8Array;
  after: string;
}

const NOTHING: RunLists = { lists: [], isEnd: true };

class Begun {
  readonly start: string;
  readonly #long = new Set<string>();
  #count = 0;
  readonly #short = new Map<string, Map<number, Entries>>();
  readonly #share: number;

  constructor(start: string, share: number) {
    this.start = start;
    this.#share = share;
  }

  get isTooMuch(): boolean {
    return this.#count > ENTRIES_MAX * this.#share || this.#long.size > LONG_LISTS_MAX * this.#share;
  }

  /** Notes what was read of a run; returns what is still to be read of it. */
  noteAll({ run, after }: Reading, { lists, isEnd }: RunLists): Reading[] {
    const last = lists.at(-1)?.list ?? '';
    for (const [list, [part, ...others]] of Map.groupBy(lists, (one) => one.list)) {
      if (list <= after) continue;
      // What comes after the rows can be of the last list.
      if (part === undefined || others.length > 0 || (list === last && !isEnd)) this.#long.add(list);
      else this.#note(list, run, entriesOf(part));
    }
    return isEnd ? [] : [{ begun: this, run, from: afterList(run, last), after: last }];
  }

  #note(list: string, run: number, entries: Entries): void {
    this.#short.getOrInsertComputed(list, () => new Map()).set(run, entries);
    this.#count += entries.length;
  }

  /** What was found. */
  lists(runs: readonly Run[]): BegunLists {
    const known = { name: this.start, entries: this.#entries(runs) };
    return { long: [...this.#long], known, examined: this.#count };
  }

  // Those of the short lists, each once.
  #entries(runs: readonly Run[]): Entries {
    const some: Entries[] = [];
    for (const [list, byRun] of this.#short) {
      if (this.#long.has(list)) continue;
      const merged = mergeEntries(runs.flatMap(({ run }) => [byRun.get(run) ?? []]));
      some.push(merged.filter(({ resource }) => resource !== REMOVED));
    }
    return mergeEntries(some);
  }
}
