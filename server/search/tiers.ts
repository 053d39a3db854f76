// Where a search looks for what matches in each of its tiers: in lists of the index, and among records that it knows already.

import { SEARCHED_RESOURCES, type TextTier } from '../../db/model/searched.ts';
import { indexedWord } from '../../db/model/words.ts';
import { type ReadAhead, readAhead } from '../../db/tables/search-ahead.ts';
import { CandidateStream } from '../../db/tables/search-candidates.ts';
import { ownerList, wordList } from '../../db/tables/search-keys.ts';
import { comparePlaces, idStart, type SearchPlace } from '../../db/tables/search-places.ts';
import { searchNumber } from '../../db/tables/search-resources.ts';
import type { Run } from '../../db/tables/search-runs.ts';
import { Source } from '../../db/tables/search-source.ts';
import {
  type ChosenSources,
  firstLists,
  sourcesOf,
  type WantedLists,
} from '../../db/tables/search-sources.ts';
import type { Reader } from '../records/rules.ts';
import type { IdentifierMatch } from './identifiers.ts';
import type { FoundRecord, Matches, SearchTier } from './matches.ts';
import type { SearchRequest } from './request.ts';
import { newestFirst, TierReader } from './tier-reader.ts';

/** A search that is under way. */
export interface SearchUnderWay {
  reader: Reader;
  request: SearchRequest;
  identifiers: IdentifierMatch;
  matches: Matches;
  /** Of the index, the newest first. */
  runs: readonly Run[];
}

/** Records that need not be looked for in the index. */
export interface KnownMatches {
  /** Those that match. */
  found: readonly FoundRecord[];
  /** How the IDs of all of them begin. */
  starts: ReadonlySet<string>;
}

const TEXT_TIERS = ['name', 'text'] as const satisfies readonly TextTier[];

/** Makes the readers of tiers. */
export class Tiers {
  readonly #search: SearchUnderWay;
  /** Their numbers. */
  readonly #resources: ReadonlySet<number>;
  #ahead: ReadAhead | null = null;
  // Entries that were looked at to choose lists.
  #examined = 0;
  readonly #readers: TierReader[] = [];

  constructor(search: SearchUnderWay) {
    this.#search = search;
    this.#resources = new Set(search.request.resources.map(searchNumber));
  }

  /** How many entries of the index were examined. */
  get examined(): number {
    return this.#readers.reduce((sum, { examined }) => sum + examined, this.#examined);
  }

  /** Reads what these tiers need first, all of it at once. */
  async readAhead(tiers: readonly SearchTier[]): Promise<void> {
    const { reader, runs } = this.#search;
    const wanted = TEXT_TIERS.flatMap((tier) => (tiers.includes(tier) ? firstLists(this.#lists(tier)) : []));
    const names = new Set([...wanted.flatMap((one) => one.names), ...this.#phoneLists().flat()]);
    const starts = new Set(wanted.flatMap((one) => one.starts));
    const lists = { names: [...names], starts: [...starts] };
    this.#ahead = await readAhead(reader.db, reader.access.orgNumber, runs, lists);
    this.#examined += this.#ahead.examined;
  }

  /** The reader of a tier. @param from the first place that is wanted */
  async readerOf(tier: SearchTier, from: SearchPlace, known: KnownMatches): Promise<TierReader> {
    const { reader, matches } = this.#search;
    const chosen = tier === 'identifier' ? this.#phoneSources() : await this.#sourcesOf(tier);
    this.#examined += chosen?.examined ?? 0;
    const stream = chosen && new CandidateStream(reader.db, reader.access.orgNumber, chosen, from);
    const beside = known.found.filter((one) => one.tier === tier && comparePlaces(one.place, from) <= 0);
    const made = new TierReader(matches, stream, {
      ...{ tier, resources: this.#resources, beside: newestFirst(beside) },
      decided: known.starts,
    });
    this.#readers.push(made);
    return made;
  }

  #sourcesOf(tier: TextTier): Promise<ChosenSources | null> {
    const { reader, runs } = this.#search;
    const { orgNumber } = reader.access;
    return sourcesOf(reader.db, { ...this.#lists(tier), orgNumber, runs, ahead: this.#ahead });
  }

  #lists(tier: TextTier): WantedLists {
    const { reader, request } = this.#search;
    return {
      ...{ tier, terms: request.query.terms, ownerId: reader.access.userId },
      resources: [...this.#resources],
      isWhole: this.#resources.size === SEARCHED_RESOURCES.length,
    };
  }

  #phoneSources(): ChosenSources | null {
    const { runs } = this.#search;
    const newest = this.#ahead?.newest;
    const sources = this.#phoneLists().map((names) => new Source(names, runs, { newest }));
    return sources.length === 0 ? null : { sources, leavesOutNames: false, examined: 0 };
  }

  // The lists of a telephone number, if the query is one.
  #phoneLists(): string[][] {
    const { phone } = this.#search.identifiers.identifiers;
    const { userId } = this.#search.reader.access;
    if (phone === null) return [];
    const lists = TEXT_TIERS.map((tier) => wordList(tier, indexedWord(phone)));
    return userId === null ? [lists] : [lists, [ownerList(userId)]];
  }
}

/** How the ID of a record begins, as that of no other does. */
export function startOf({ place }: Pick<FoundRecord, 'place'>): string {
  return idStart(place);
}
