// Finds what the search index has of all words that begin in some way.

import type { Db } from '../engine/schema.ts';
import { type Entries, mergeEntries, REMOVED } from './blocks.ts';
import { EntryColumns } from './columns.ts';
import { afterList, runKeyStart } from './keys.ts';
import { findFewRowsFrom, type RunLists } from './lists.ts';
import { entriesOf } from './packing.ts';
import type { SearchEntry } from './places.ts';
import type { Run } from './runs.ts';

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
  known: { name: string; entries: EntryColumns };
  /** How many entries they have. */
  examined: number;
}

// What is still to be read of a run: from a key on, what comes after a list.
interface Reading {
  run: number;
  from: Uint8Array;
  after: string;
}

// What a run has of a short list.
interface RunEntries {
  run: number;
  entries: Entries;
}

const NOTHING: RunLists = { lists: [], isEnd: true };

/** Lists that begin in some way, as far as they are read; several searches can read them at a time. */
export class Begun {
  readonly start: string;
  /** What is still to be read. */
  left: Reading[];
  /** What was found, once that is all; null before, or if it is too much. */
  lists: BegunLists | null = null;
  readonly #runs: readonly Run[];
  readonly #share: number;
  readonly #noted: (entries: number) => void;
  readonly #long = new Set<string>();
  readonly #short = new Map<string, RunEntries[]>();
  #count = 0;
  // The last step.
  #step: Promise<void> | null = null;
  #reading: Promise<void> | null = null;

  /**
   * @param share which part of what can be looked at this may
   * @param noted is called with the number of entries whenever something was read
   */
  constructor(
    start: string,
    runs: readonly Run[],
    share: number,
    noted: (entries: number) => void = () => undefined,
  ) {
    this.start = start;
    this.#runs = runs;
    this.#share = share;
    this.#noted = noted;
    // The largest run tells soonest that it is too much.
    this.left = runs.toReversed().map(({ run }) => ({ run, from: runKeyStart(run, start), after: '' }));
  }

  /** Whether a step was made, or is under way. */
  get isBegun(): boolean {
    return this.#step !== null;
  }

  get isTooMuch(): boolean {
    return this.#count > ENTRIES_MAX * this.#share || this.#long.size > LONG_LISTS_MAX * this.#share;
  }

  /** Reads all of them; returns how many entries they have, unless that was asked before. */
  async read(db: Db, orgNumber: number): Promise<number> {
    const isFirst = this.#reading === null;
    this.#reading ??= this.#readAll(db, orgNumber).catch((error) => {
      this.#reading = null;
      throw error;
    });
    await this.#reading;
    return isFirst ? (this.lists?.examined ?? 0) : 0;
  }

  async #readAll(db: Db, orgNumber: number): Promise<void> {
    for (let step = 0; step < STEPS_MAX; step++) {
      // It may be that of another search.
      await this.#step;
      if (this.left.length === 0) break;
      await readStep(db, orgNumber, [this]);
    }
    if (!this.isTooMuch && this.left.length === 0) {
      const known = { name: this.start, entries: EntryColumns.of(this.#entries()) };
      this.lists = { long: [...this.#long], known, examined: this.#count };
    }
    this.#short.clear();
  }

  /** Takes what is to be read next; it is there again if that fails. */
  take(reading: Promise<void>): Reading[] {
    const taken = this.left.splice(0);
    if (taken.length === 0) return taken;
    this.#step = reading.catch(() => {
      this.left.push(...taken);
    });
    return taken;
  }

  /** Notes what was read of a run. */
  note({ run, after }: Reading, { lists, isEnd }: RunLists): void {
    const before = this.#count;
    const last = lists.at(-1)?.list ?? '';
    for (const [at, packed] of lists.entries()) {
      const { list } = packed;
      if (list <= after) continue;
      // What comes after the rows can be of the last list.
      const isLong =
        list === lists[at - 1]?.list || list === lists[at + 1]?.list || (list === last && !isEnd);
      if (isLong) this.#long.add(list);
      else this.#note(list, { run, entries: entriesOf(packed) });
    }
    if (!isEnd) this.left.push({ run, from: afterList(run, last), after: last });
    this.#noted(this.#count - before);
  }

  #note(list: string, part: RunEntries): void {
    const parts = this.#short.get(list);
    if (parts === undefined) this.#short.set(list, [part]);
    else parts.push(part);
    this.#count += part.entries.length;
  }

  // Those of the short lists, each once.
  #entries(): Entries {
    const some: Entries[] = [];
    for (const [list, parts] of this.#short) {
      if (this.#long.has(list)) continue;
      const merged = this.#merged(parts);
      const isLeft = ({ resource }: SearchEntry) => resource !== REMOVED;
      some.push(merged.every(isLeft) ? merged : merged.filter(isLeft));
    }
    return mergeEntries(some);
  }

  #merged(parts: readonly RunEntries[]): Entries {
    const [only] = parts;
    if (only !== undefined && parts.length === 1) return only.entries;
    const ofRun = new Map(parts.map(({ run, entries }) => [run, entries]));
    return mergeEntries(this.#runs.flatMap(({ run }) => [ofRun.get(run) ?? []]));
  }
}

/** Reads what is next of some beginnings: of each run some rows, after which a long list may have to be skipped. */
export function readStep(db: Db, orgNumber: number, begun: readonly Begun[]): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const left = begun.flatMap((one) => one.take(promise).map((reading) => ({ one, reading })));
  readNext(db, orgNumber, left).then(resolve, reject);
  return promise;
}

async function readNext(
  db: Db,
  orgNumber: number,
  left: readonly { one: Begun; reading: Reading }[],
): Promise<void> {
  for (const group of db.engine.answersAtOnce ? left.map((some) => [some]) : [left]) {
    const some = group.filter(({ one }) => !one.isTooMuch);
    const ranges = some.map(({ one, reading: { run, from } }) => ({ run, from, start: one.start }));
    const read = await findFewRowsFrom(db, orgNumber, ranges);
    for (const [index, { one, reading }] of some.entries()) one.note(reading, read[index] ?? NOTHING);
  }
}
