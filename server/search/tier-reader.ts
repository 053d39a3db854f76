// Reads what matches a search in one tier, newest first: from the index, and from what the index does not have yet.

import type { RecordRow } from '../../db/engine/schema.ts';
import type { CandidateStream, Candidates } from '../../db/search/candidates.ts';
import { comparePlaces, idStart, type SearchEntry, type SearchPlace } from '../../db/search/places.ts';
import { searchedResource } from '../../db/search/resources.ts';
import type { FoundRecord, Matches, SearchTier } from './matches.ts';

/** A part of a tier. */
export interface TierPart {
  /** Newest first. */
  found: FoundRecord[];
  /** All that matches from this place on was returned; null if there is no more. */
  reached: SearchPlace | null;
}

export interface TierOptions {
  tier: SearchTier;
  /** The numbers of the resources that are searched. */
  resources: ReadonlySet<number>;
  /** Records that match and that are not looked for in the index, newest first. */
  beside: readonly FoundRecord[];
  /** How the IDs of other records begin that are not looked for there. */
  decided: ReadonlySet<string>;
  /** Whether further candidates are read while records are. */
  readsAhead: () => boolean;
}

const NOTHING: Candidates = { entries: [], reached: null };

/** Reads one tier. */
export class TierReader {
  readonly #matches: Matches;
  readonly #stream: CandidateStream | null;
  readonly #options: TierOptions;
  #beside: readonly FoundRecord[];
  // Candidates that were not read yet; null if there are none, or they are not known.
  #waiting: Candidates | null = null;
  #begun: Promise<TierPart> | null = null;
  // Candidates that are being read while records are.
  #ahead: Promise<Candidates> | null = null;

  /** @param stream null if nothing in the index can match */
  constructor(matches: Matches, stream: CandidateStream | null, options: TierOptions) {
    this.#matches = matches;
    this.#stream = stream;
    this.#options = options;
    this.#beside = options.beside;
  }

  /** How many entries of the index were examined. */
  get examined(): number {
    return this.#stream?.examined ?? 0;
  }

  /** How many records it returns yet at most, if that is known; else more than any page has. */
  get countMax(): number {
    const waiting = this.#stream === null ? NOTHING : this.#waiting;
    if (waiting === null || waiting.reached !== null) return Number.POSITIVE_INFINITY;
    return waiting.entries.length + this.#beside.length;
  }

  /** Reads the first candidates. */
  async prepare(): Promise<void> {
    this.#waiting ??= await this.#candidates();
  }

  /** Whether it can read on without the index. */
  get hasCandidates(): boolean {
    return this.#stream === null || this.#waiting !== null;
  }

  /** Whether further candidates were examined already. */
  get hasReadAhead(): boolean {
    return this.#ahead !== null;
  }

  /** Begins to read on, for the next call of `next`; false if that has begun. */
  begin(recordsMax: number): boolean {
    if (this.#begun !== null) return false;
    this.#begun = this.#next(recordsMax);
    // If nobody asks for it.
    this.#begun.catch(() => undefined);
    return true;
  }

  /** Reads on, at most so many records. */
  next(recordsMax: number): Promise<TierPart> {
    const reading = this.#begun ?? this.#next(recordsMax);
    this.#begun = null;
    return reading;
  }

  async #next(recordsMax: number): Promise<TierPart> {
    const { entries, reached } = this.#split(this.#waiting ?? (await this.#nextCandidates()), recordsMax);
    // What is asked of a server comes as soon as the records, and of few records mostly more are wanted.
    const isMoreWanted = this.#waiting === null && reached !== null && entries.length < recordsMax;
    if (isMoreWanted && this.#options.readsAhead()) {
      this.#ahead = this.#candidates();
      // If nobody asks for them.
      this.#ahead.catch(() => undefined);
    }
    const found = await this.#read(entries);
    const isReached = ({ place }: FoundRecord) => reached === null || comparePlaces(place, reached) >= 0;
    const beside = this.#beside.filter(isReached);
    this.#beside = this.#beside.filter((one) => !isReached(one));
    return { found: newestFirst([...found, ...beside]), reached };
  }

  #nextCandidates(): Promise<Candidates> {
    const candidates = this.#ahead ?? this.#candidates();
    this.#ahead = null;
    return candidates;
  }

  async #candidates(): Promise<Candidates> {
    if (this.#stream === null) return NOTHING;
    const { entries, reached } = await this.#stream.next();
    const { resources, decided } = this.#options;
    const isWanted = (one: SearchEntry) =>
      resources.has(one.resource) && !(decided.size > 0 && decided.has(idStart(one)));
    return { entries: entries.filter(isWanted), reached };
  }

  // The first candidates; the others wait.
  #split({ entries, reached }: Candidates, max: number): Candidates {
    this.#waiting = entries.length > max ? { entries: entries.slice(max), reached } : null;
    if (this.#waiting === null) return { entries, reached };
    const some = entries.slice(0, max);
    return { entries: some, reached: some.at(-1) ?? null };
  }

  async #read(entries: readonly SearchEntry[]): Promise<FoundRecord[]> {
    const byResource = [...Map.groupBy(entries, ({ resource }) => resource)];
    const found = byResource.map(([number, some]) => this.#matches.at(searchedResource(number), some));
    return (await Promise.all(found)).flat().filter(({ tier }) => tier === this.#options.tier);
  }
}

/** Records in the order of a tier. */
export function newestFirst<T extends { row: RecordRow }>(found: readonly T[]): T[] {
  return found.toSorted((one, other) => (one.row.id < other.row.id ? 1 : -1));
}
