// Records that can match a search, from the index, newest first: each is in one list of every source.

import type { Db } from '../engine/schema.ts';
import { TimeSlices } from '../event-loop.ts';
import type { ListRun } from './search-list-runs.ts';
import { findParts } from './search-parts.ts';
import {
  comparePlaces,
  FIRST_PLACE,
  previousPlace,
  type SearchEntry,
  type SearchPlace,
} from './search-places.ts';
import { IN_NAME, IN_TEXT, type Source } from './search-source.ts';

// Looked up in the other lists together: few at first, as a page can be full soon.
const CANDIDATES_AT_FIRST = 64;
const CANDIDATES_AT_ONCE = 256;
const LOOKUPS_AT_ONCE = 3_000;

/** Candidates of a part of the index. */
export interface Candidates {
  entries: readonly SearchEntry[];
  /** All candidates from this place on were returned; null if there are no more. */
  reached: SearchPlace | null;
}

/** What candidates are in. */
export interface CandidateSources {
  /** At least one. */
  sources: readonly Source[];
  /**
   * The lists of texts with any word, if candidates are left out that the first tier has: those whose name has all words. The
   * sources are then those of all words, and others that are not of words.
   */
  texts: Source | null;
}

/** The candidates of several sources, read some at a time. */
export class CandidateStream {
  /** How many entries of lists were looked at. */
  examined = 0;
  readonly #db: Db;
  readonly #orgNumber: number;
  readonly #sources: readonly Source[];
  readonly #texts: Source | null;
  readonly #atOnceMax: number;
  readonly #turns = new TimeSlices();
  #atOnce: number;
  #next: SearchPlace | null;

  /** @param from the place of the newest one that is wanted */
  constructor(db: Db, orgNumber: number, { sources, texts }: CandidateSources, from: SearchPlace) {
    this.#db = db;
    this.#orgNumber = orgNumber;
    this.#sources = sources;
    this.#texts = texts;
    const lists = sources.reduce((sum, one) => sum + one.size, 0);
    this.#atOnceMax = Math.max(1, Math.min(CANDIDATES_AT_ONCE, Math.floor(LOOKUPS_AT_ONCE / lists)));
    this.#atOnce = Math.min(CANDIDATES_AT_FIRST, this.#atOnceMax);
    this.#next = from;
  }

  /** The next candidates, possibly none although there are more. */
  async next(): Promise<Candidates> {
    const at = this.#next;
    if (at === null) return { entries: [], reached: null };
    if (this.#turns.isOver) await this.#turns.next();
    for (const { runs } of this.#sources) for (const run of runs) run.forget();
    const { read, isEnd } = await readSources(this.#db, this.#orgNumber, this.#sources, at);
    this.examined += read;
    if (isEnd || this.#texts?.endsBefore(at)) {
      this.#next = null;
      return { entries: [], reached: null };
    }
    const { entries, reached } = await this.#readOn(at);
    const isOver = comparePlaces(reached, FIRST_PLACE) === 0;
    this.#next = isOver ? null : previousPlace(reached);
    return { entries, reached: isOver ? null : reached };
  }

  async #readOn(at: SearchPlace): Promise<{ entries: SearchEntry[]; reached: SearchPlace }> {
    const sources = inOrder(this.#sources, at);
    const [lead] = this.#texts === null ? sources : inOrder([this.#texts, ...sources], at);
    if (lead === undefined) throw new Error('no source');
    const { entries: found, reached } = lead.newest(at, lead.low(at), this.#atOnce);
    this.#atOnce = Math.min(2 * this.#atOnce, this.#atOnceMax);
    this.examined += found.length;
    let entries: SearchEntry[] = found;
    // Where the lead has them matters only if names are left out.
    const others = this.#texts === null ? sources.filter((one) => one !== lead) : sources;
    // What every source so far has in a name.
    let named = new Set(this.#texts === null ? [] : found);
    for (const source of others) {
      if (entries.length === 0) break;
      const grades = await this.#grades(source, entries);
      named = new Set(entries.filter((one, index) => grades[index] === IN_NAME && named.has(one)));
      entries = entries.filter((_, index) => grades[index] !== 0);
    }
    return { entries: named.size === 0 ? entries : entries.filter((one) => !named.has(one)), reached };
  }

  async #grades(source: Source, entries: readonly SearchEntry[]): Promise<Uint8Array> {
    const enough = this.#texts === null ? IN_TEXT : IN_NAME;
    // What asks another process asks once.
    if (!this.#db.engine.answersAtOnce)
      await this.#read(source.runs.map((run) => [run, run.unread(entries)]));
    return source.grades(entries, enough, (run, said) => {
      const unread = run.unread(entries, said);
      return unread.length === 0 ? null : this.#read([[run, unread]]);
    });
  }

  async #read(wanted: readonly [ListRun, readonly SearchPlace[]][]): Promise<void> {
    this.examined += await readParts(this.#db, this.#orgNumber, wanted);
  }
}

// The one with the fewest entries first.
function inOrder(sources: readonly Source[], at: SearchPlace): Source[] {
  if (sources.length < 2) return [...sources];
  const known = sources.map((source) => ({ source, low: source.low(at), entries: source.entriesAt(at) }));
  known.sort((one, other) => comparePlaces(one.low, other.low) || one.entries - other.entries);
  return known.map(({ source }) => source);
}

/** Reads of sources what is at a place or before it: how many lists were looked at, and whether one has nothing there. */
export async function readSources(
  db: Db,
  orgNumber: number,
  sources: readonly Source[],
  at: SearchPlace,
): Promise<{ read: number; isEnd: boolean }> {
  let read = 0;
  // What asks another process asks once.
  for (const some of db.engine.answersAtOnce ? sources.map((one) => [one]) : [sources]) {
    const runs = some.flatMap((source) => source.runs.filter((run) => run.partAt(at) === undefined));
    if (runs.length > 0)
      read += await readParts(
        db,
        orgNumber,
        runs.map((run) => [run, [at]]),
      );
    if (some.some((source) => source.endsBefore(at))) return { read, isEnd: true };
  }
  return { read, isEnd: false };
}

async function readParts(
  db: Db,
  orgNumber: number,
  wanted: readonly [ListRun, readonly SearchPlace[]][],
): Promise<number> {
  const all = wanted.flatMap(([list, places]) => places.map((place) => ({ list, place })));
  const keys = all.map(({ list: { run, name }, place }) => ({ run: run.run, list: name, place }));
  const parts = await findParts(db, orgNumber, keys);
  for (const [index, { list, place }] of all.entries()) list.note(place, parts[index] ?? null);
  return all.length;
}
