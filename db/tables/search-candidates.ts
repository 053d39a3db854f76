// Records that can match a search, from the index, newest first: each is in one list of every source.

import type { Db } from '../engine/schema.ts';
import { entryAt } from './search-blocks.ts';
import { findParts } from './search-parts.ts';
import {
  comparePlaces,
  FIRST_PLACE,
  previousPlace,
  type SearchEntry,
  type SearchPlace,
} from './search-places.ts';
import { isLater, type LookedUp, type RunList, type Source } from './search-source.ts';

// Looked up in the other lists together.
const CANDIDATES_AT_ONCE = 64;
const LOOKUPS_AT_ONCE = 3_000;
const FEW = 16;

/** Candidates of a part of the index. */
export interface Candidates {
  entries: readonly SearchEntry[];
  /** All candidates from this place on were returned; null if there are no more. */
  reached: SearchPlace | null;
}

/** The candidates of several sources, read some at a time. */
export class CandidateStream {
  /** How many entries of lists were looked at. */
  examined = 0;
  /** Whether candidates are left out that the first tier has: those whose name has all words. */
  readonly #leavesOutNames: boolean;
  readonly #db: Db;
  readonly #orgNumber: number;
  readonly #sources: readonly Source[];
  readonly #atOnce: number;
  #next: SearchPlace | null;

  /**
   * @param sources at least one; `leavesOutNames` if those of all words are among them, and the others are not of words
   * @param from the place of the newest one that is wanted
   */
  constructor(
    db: Db,
    orgNumber: number,
    { sources, leavesOutNames }: { sources: readonly Source[]; leavesOutNames: boolean },
    from: SearchPlace,
  ) {
    this.#db = db;
    this.#orgNumber = orgNumber;
    this.#sources = sources;
    this.#leavesOutNames = leavesOutNames;
    const lists = sources.reduce((sum, one) => sum + one.size, 0);
    this.#atOnce = Math.max(1, Math.min(CANDIDATES_AT_ONCE, Math.floor(LOOKUPS_AT_ONCE / lists)));
    this.#next = from;
  }

  /** The next candidates, possibly none although there are more. */
  async next(): Promise<Candidates> {
    const at = this.#next;
    if (at === null) return { entries: [], reached: null };
    if (!(await this.#readAt(at))) {
      this.#next = null;
      return { entries: [], reached: null };
    }
    // The one with the fewest entries here.
    const [lead, ...others] = this.#sources.toSorted((one, other) => comparePlaces(one.low, other.low));
    if (lead === undefined) throw new Error('no source');
    const found = lead.entries(at, lead.low, this.#atOnce);
    this.examined += found.length;
    const isCut = found.length === this.#atOnce;
    const reached = isCut ? (found.at(-1) as SearchEntry) : lead.low;
    let entries: readonly SearchEntry[] = found;
    let named = new Set(
      this.#leavesOutNames ? found.filter((one) => isNamed(lead, one, () => undefined)) : [],
    );
    // Those with few lists take less to look up.
    others.sort((one, other) => one.size - other.size);
    for (const other of others)
      ({ entries, named } = this.#areFew(entries)
        ? { entries: entries.filter((entry) => other.mayHave(entry)), named: new Set() }
        : await this.#among(other, entries, named));
    if (named.size > 0) entries = entries.filter((one) => !named.has(one));
    const isEnd = comparePlaces(reached, FIRST_PLACE) === 0;
    this.#next = isEnd ? null : previousPlace(reached);
    return { entries, reached: isEnd ? null : reached };
  }

  // Then a server sends the records as soon as what the index has of them.
  #areFew(entries: readonly SearchEntry[]): boolean {
    return !this.#db.engine.answersAtOnce && entries.length <= FEW;
  }

  // False if a source has nothing more. What asks another process asks once.
  async #readAt(at: SearchPlace): Promise<boolean> {
    const steps = this.#db.engine.answersAtOnce ? this.#sources.map((one) => [one]) : [this.#sources];
    for (const sources of steps) {
      await this.#readParts(sources, at);
      if (sources.some((one) => one.endsBefore(at))) return false;
    }
    return true;
  }

  async #readParts(sources: readonly Source[], at: SearchPlace): Promise<void> {
    this.examined += await readParts(this.#db, this.#orgNumber, sources, at);
  }

  // Those of the entries, newest first, that are in a list of the source; and of the named ones those that it names as well.
  async #among(
    source: Source,
    entries: readonly SearchEntry[],
    named: ReadonlySet<SearchEntry>,
  ): Promise<{ entries: SearchEntry[]; named: Set<SearchEntry> }> {
    const isSure = (entry: SearchEntry) => !this.#leavesOutNames && source.has(entry, () => undefined);
    const wanted = entries.flatMap((entry): [RunList, SearchEntry][] =>
      isSure(entry) ? [] : source.unknown(entry).map((list) => [list, entry]),
    );
    const parts = await this.#find(wanted);
    const told = new Map<SearchEntry, Map<RunList, SearchEntry>>();
    for (const [index, [list, entry]] of wanted.entries()) {
      const found = entryAt(parts[index]?.entries ?? [], entry);
      if (found !== undefined) told.getOrInsertComputed(entry, () => new Map()).set(list, found);
    }
    const lookedUp =
      (entry: SearchEntry): LookedUp =>
      (list) =>
        told.get(entry)?.get(list);
    return {
      entries: entries.filter((entry) => source.has(entry, lookedUp(entry))),
      named: new Set([...named].filter((entry) => isNamed(source, entry, lookedUp(entry)))),
    };
  }

  #find(wanted: readonly [RunList, SearchPlace][]): ReturnType<typeof findParts> {
    this.examined += wanted.length;
    return findParts(this.#db, this.#orgNumber, wanted.map(keyAt));
  }
}

const keyAt = ([{ name, run }, place]: [RunList, SearchPlace]) => ({ run: run.run, list: name, place });

/** Reads of the lists of sources what is at a place or before it; returns how many were looked at. */
export async function readParts(
  db: Db,
  orgNumber: number,
  sources: readonly Source[],
  at: SearchPlace,
): Promise<number> {
  const unread = sources.flatMap((source) => source.unread(at));
  const some = unread.filter(({ run }) => !isLater(run.low, at));
  for (const list of unread) list.part = null;
  const parts = await findParts(
    db,
    orgNumber,
    some.map((list) => keyAt([list, at])),
  );
  for (const [index, list] of some.entries()) {
    const part = parts[index];
    list.part = part == null || isLater(part.first, at) ? null : part;
  }
  return some.length;
}

function isNamed(source: Source, entry: SearchEntry, lookedUp: LookedUp): boolean {
  return source.isOfWords ? source.has(entry, lookedUp, 'name') : source.has(entry, lookedUp);
}
