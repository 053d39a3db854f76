// Records that can match a search, from the index, newest first: each is in one list of every source.

import type { Eventually } from '../engine/engine.ts';
import type { Db } from '../engine/schema.ts';
import { TimeSlices } from '../event-loop.ts';
import type { EntryColumns } from './columns.ts';
import { readNextParts, readParts } from './list-reads.ts';
import { type ListRun, OPEN } from './list-runs.ts';
import { comparePlaces, FIRST_PLACE, previousPlace, type SearchEntry, type SearchPlace } from './places.ts';
import { IN_NAME, IN_TEXT, type Source } from './source.ts';

// Looked up in the other lists together: few at first, as a page can be full soon.
const CANDIDATES_AT_FIRST = 64;
const CANDIDATES_AT_ONCE = 256;
// A way to a server and back takes longer than to look at these.
const CANDIDATES_OF_SERVER = 512;
// Twice as many at most, as each candidate has its share.
const LOOKUPS_AT_ONCE = 1_500;
// The content of so few records is read sooner than the parts of more lists.
const FEW = 16;
// So many parts of a list that is read on are enough for a step.
const PARTS_AHEAD = 2;

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
  /** So few are not looked up: a server sends their content as soon as what the index has of them. */
  readonly #untold: number;
  readonly #atOnceMax: number;
  readonly #turns = new TimeSlices();
  #atOnce = CANDIDATES_AT_FIRST;
  // The source that gave the last candidates, and gives the next ones mostly.
  #lead: Source | null = null;
  #next: SearchPlace | null;

  /** @param from the place of the newest one that is wanted */
  constructor(db: Db, orgNumber: number, { sources, texts }: CandidateSources, from: SearchPlace) {
    this.#db = db;
    this.#orgNumber = orgNumber;
    this.#sources = sources;
    this.#texts = texts;
    this.#untold = db.engine.answersAtOnce ? 0 : FEW;
    this.#atOnceMax = db.engine.answersAtOnce ? CANDIDATES_AT_ONCE : CANDIDATES_OF_SERVER;
    this.#next = from;
  }

  /** The next candidates, possibly none although there are more. */
  async next(): Promise<Candidates> {
    const at = this.#next;
    if (at === null) return { entries: [], reached: null };
    if (this.#turns.isOver) await this.#turns.next();
    for (const { runs } of this.#sources) for (const run of runs) run.use();
    const candidates = await this.#readAt(at);
    for (const { runs } of this.#sources) for (const run of runs) run.release();
    this.#next = candidates.reached && previousPlace(candidates.reached);
    return candidates;
  }

  async #readAt(at: SearchPlace): Promise<Candidates> {
    const { sources, examined, isEnd } = await readSources(
      this.#db,
      this.#orgNumber,
      this.#sources,
      at,
      this.#lead,
    );
    this.examined += examined;
    if (isEnd || this.#texts?.endsBefore(at)) return { entries: [], reached: null };
    const { entries, reached } = await this.#readOn(sources, at);
    return { entries, reached: comparePlaces(reached, FIRST_PLACE) === 0 ? null : reached };
  }

  async #readOn(
    read: readonly Source[],
    at: SearchPlace,
  ): Promise<{ entries: SearchEntry[]; reached: SearchPlace }> {
    const texts = read.length === this.#sources.length ? this.#texts : null;
    const sources = inOrder(read, at);
    const [lead] = texts === null ? sources : inOrder([texts, ...sources], at);
    if (lead === undefined) throw new Error('no source');
    const isReadOn = this.#lead === lead;
    this.#lead = lead;
    let { entries, reached } = lead.newest(at, lead.low(at), this.#atOnce);
    this.#atOnce = Math.min(2 * this.#atOnce, this.#atOnceMax);
    this.examined += entries.length;
    const ahead = isReadOn ? this.#readAhead(lead, reached) : Promise.resolve(0);
    // If nobody waits for it.
    ahead.catch(() => undefined);
    // Where the lead has them matters only if names are left out.
    const others = texts === null ? sources.filter((one) => one !== lead) : sources;
    const lists = others.reduce((sum, one) => sum + one.openAt(at), 0);
    const share = Math.max(1, Math.floor(LOOKUPS_AT_ONCE / lists));
    const end = this.examined + LOOKUPS_AT_ONCE;
    // What every source so far has in a name, and is left out; null if nothing is.
    let named: Uint8Array | null = texts === null ? null : new Uint8Array(entries.length).fill(1);
    for (const source of others) {
      if (entries.length === 0) break;
      const max = Math.max(share, Math.floor((end - this.examined) / source.openAt(at)), this.#untold);
      if (entries.length > max) {
        reached = entries.at(max - 1);
        entries = entries.first(max);
      }
      this.examined += entries.length;
      const grades = await this.#grades(source, entries);
      named = named && namedStill(named, grades);
      entries = entries.select(grades);
    }
    this.examined += await ahead;
    const wanted = named === null ? entries : entries.select(named.map((is) => 1 - is));
    return { entries: wanted.toEntries(), reached };
  }

  // What asks another process asks for the next parts together with what is looked up.
  async #readAhead(lead: Source, from: SearchPlace): Promise<number> {
    if (this.#db.engine.answersAtOnce) return 0;
    const wanted = lead.runs.flatMap((run): [ListRun, SearchPlace][] => {
      const end = run.endOfRead(from, PARTS_AHEAD);
      return end === null ? [] : [[run, end]];
    });
    return wanted.length === 0 ? 0 : readNextParts(this.#db, this.#orgNumber, wanted);
  }

  async #grades(source: Source, entries: EntryColumns): Promise<Uint8Array> {
    const enough = this.#texts === null ? IN_TEXT : IN_NAME;
    if (entries.length <= this.#untold) return source.grades(entries, enough, null);
    if (!this.#db.engine.answersAtOnce) await this.#readTogether(source, entries);
    return source.grades(entries, enough, (run, place) => this.#readOne(run, place));
  }

  // What asks another process asks for all of it, and again only where a range has many parts.
  async #readTogether(source: Source, entries: EntryColumns): Promise<void> {
    const said = new Uint8Array(entries.length).fill(OPEN);
    for (;;) {
      const wanted = source.runs.flatMap((run): [ListRun, SearchPlace[]][] => {
        const unread = run.unread(entries, said);
        return unread.length === 0 ? [] : [[run, unread.map((index) => entries.at(index))]];
      });
      if (wanted.length === 0) return;
      this.examined += await readParts(this.#db, this.#orgNumber, wanted);
    }
  }

  #readOne(run: ListRun, place: SearchPlace): Eventually<void> {
    this.examined += 1;
    if (!this.#turns.isOver) return run.read(this.#db, this.#orgNumber, place);
    return this.#turns.next().then(() => run.read(this.#db, this.#orgNumber, place));
  }
}

// Of those that a source has: whether every source so far, and this one, has them in a name.
function namedStill(named: Uint8Array, grades: Uint8Array): Uint8Array {
  const still = new Uint8Array(grades.length);
  let count = 0;
  for (let at = 0; at < grades.length; at++)
    if (grades[at] !== 0) still[count++] = grades[at] === IN_NAME ? (named[at] as number) : 0;
  return still.subarray(0, count);
}

// The one with the fewest entries first.
function inOrder(sources: readonly Source[], at: SearchPlace): Source[] {
  if (sources.length < 2) return [...sources];
  const known = sources.map((source) => ({ source, low: source.low(at), entries: source.entriesAt(at) }));
  known.sort((one, other) => comparePlaces(one.low, other.low) || one.entries - other.entries);
  return known.map(({ source }) => source);
}

/** What was read of sources. */
export interface ReadSources {
  /** Those that were read: not all of them if one has nothing, or few entries. */
  sources: readonly Source[];
  /** Whether one of them has nothing. */
  isEnd: boolean;
  /** Whether one of them has few entries. */
  areFew: boolean;
  /** How many lists were looked at. */
  examined: number;
}

/**
 * Reads of sources what is at a place or before it, as far as it takes to find what all of them have.
 * @param lead the one that is read on, if there is one: what asks another process asks for more of it at once
 */
export async function readSources(
  db: Db,
  orgNumber: number,
  sources: readonly Source[],
  at: SearchPlace,
  lead: Source | null = null,
): Promise<ReadSources> {
  let examined = 0;
  // What asks another process asks once.
  const step = db.engine.answersAtOnce ? 1 : sources.length;
  for (let end = step; end - step < sources.length; end += step) {
    const some = sources.slice(end - step, end);
    const isUnread = (run: ListRun) => run.partAt(at) === undefined;
    const next = db.engine.answersAtOnce ? [] : (lead?.runs.filter(isUnread) ?? []);
    const runs = some.flatMap((source) => source.runs.filter(isUnread)).filter((run) => !next.includes(run));
    const counts = await Promise.all([
      readParts(
        db,
        orgNumber,
        runs.map((run) => [run, [at]]),
      ),
      readNextParts(
        db,
        orgNumber,
        next.map((run) => [run, at]),
      ),
    ]);
    examined += counts[0] + counts[1];
    const isEnd = some.some((source) => source.endsBefore(at));
    const areFew = some.some((source) => source.hasAtMost(FEW, at));
    if (isEnd || areFew) return { sources: sources.slice(0, end), isEnd, areFew, examined };
  }
  return { sources, isEnd: false, areFew: false, examined };
}
