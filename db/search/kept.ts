// Keeps what searches have read of the index, where it is on a server: a run never changes.

import { BoundedMap, memoize } from '../cache.ts';
import type { Db } from '../engine/schema.ts';
import { ListRun } from './list-runs.ts';
import { Begun } from './prefixes.ts';
import type { Run } from './runs.ts';
import { ReadLists } from './source.ts';

// Of all organizations; each takes 3 KB at most. When they are more, all are forgotten.
const PARTS_MAX = 30_000;
const ORGANIZATIONS_MAX = 10_000;
// So many entries that are not in a part take as much as one.
const ENTRIES_PER_PART = 50;

/** What is kept of the index of an organization. */
interface KeptIndex {
  runs: readonly Run[];
  /** The lists of each run, by what tells the run from others. */
  ofRuns: Map<string, Map<string, ListRun>>;
  /** What all runs together have, by how the names of the lists begin. */
  begun: Map<string, Begun>;
}

/** What searches have read. */
export class KeptLists {
  /** How much was read so far: it grows with whatever is read. */
  read = 0;
  readonly #indexes = new BoundedMap<number, KeptIndex>(ORGANIZATIONS_MAX);
  readonly #partsMax: number;
  #parts = 0;

  /** @param partsMax how many parts of lists are kept, about */
  constructor(partsMax = PARTS_MAX) {
    this.#partsMax = partsMax;
  }

  /** The runs that the index of an organization had when it was searched last. */
  runsOf(orgNumber: number): readonly Run[] | undefined {
    return this.#indexes.get(orgNumber)?.runs;
  }

  /**
   * Lists of these runs, which must be known by their versions, with what was read of them before.
   * @param since the value of `read` before the search asked which runs there are
   */
  lists(orgNumber: number, runs: readonly Run[], since: number): ReadLists {
    if (this.#parts > this.#partsMax) this.forget();
    const { ofRuns, begun } = this.#indexOf(orgNumber, runs);
    const listsOf = (run: Run) => ofRuns.getOrInsertComputed(nameOf(run), () => new Map());
    return new ReadLists(runs, {
      list: (name, run) => listsOf(run).getOrInsertComputed(name, () => this.#newList(name, run)),
      begun: (start, share) => begun.getOrInsertComputed(start, () => this.#newBegun(start, runs, share)),
      areKept: () => this.read === since,
    });
  }

  /** Forgets what was read, but for which runs there are. */
  forget(): void {
    this.#parts = 0;
    for (const [orgNumber, { runs }] of this.#indexes) this.#indexes.set(orgNumber, emptyIndex(runs));
  }

  #newList(name: string, run: Run): ListRun {
    // It takes room before anything of it is read, too.
    this.#parts += 1;
    return new ListRun(name, run, () => this.#note(1));
  }

  #newBegun(start: string, runs: readonly Run[], share: number): Begun {
    this.#parts += 1;
    return new Begun(start, runs, share, (entries) => this.#note(entries / ENTRIES_PER_PART));
  }

  #note(parts: number): void {
    this.read += 1;
    this.#parts += parts;
  }

  #indexOf(orgNumber: number, runs: readonly Run[]): KeptIndex {
    const last = this.#indexes.get(orgNumber);
    if (last !== undefined && Bun.deepEquals(last.runs, runs)) return last;
    const index = emptyIndex(runs);
    for (const name of runs.map(nameOf)) {
      const lists = last?.ofRuns.get(name);
      if (lists !== undefined) index.ofRuns.set(name, lists);
    }
    this.#indexes.set(orgNumber, index);
    return index;
  }
}

/** What searches on an engine have read. */
export const keptLists = memoize((_: Db) => new KeptLists());

function emptyIndex(runs: readonly Run[]): KeptIndex {
  return { runs, ofRuns: new Map(), begun: new Map() };
}

function nameOf({ run, version }: Run): string {
  return `${run} ${version}`;
}
