// Where a search looks for what matches in each of its tiers: in lists of the index, and among records that it knows already.

import { SEARCHED_RESOURCES, type TextTier } from '../../db/model/searched.ts';
import { indexedWord } from '../../db/model/words.ts';
import { readAhead } from '../../db/tables/search-ahead.ts';
import { CandidateStream } from '../../db/tables/search-candidates.ts';
import { ownerList, wordList } from '../../db/tables/search-keys.ts';
import { comparePlaces, idStart, type SearchPlace } from '../../db/tables/search-places.ts';
import { searchNumber } from '../../db/tables/search-resources.ts';
import { type ReadLists, Source } from '../../db/tables/search-source.ts';
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
  /** Of the index. */
  lists: ReadLists;
}

/** Records that need not be looked for in the index. */
export interface KnownMatches {
  /** Those that match. */
  found: readonly FoundRecord[];
  /** How the IDs of all of them begin. */
  starts: ReadonlySet<string>;
}

/** A tier, and the first place in it that is wanted. */
export interface TierFrom {
  tier: SearchTier;
  from: SearchPlace;
}

const TEXT_TIERS = ['name', 'text'] as const satisfies readonly TextTier[];

/** Makes the readers of tiers. */
export class Tiers {
  readonly #search: SearchUnderWay;
  /** Their numbers. */
  readonly #resources: ReadonlySet<number>;
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
  async readAhead(tiers: readonly TierFrom[]): Promise<void> {
    const { reader, lists } = this.#search;
    const wanted = tiers.map(({ tier, from }) =>
      tier === 'identifier'
        ? { names: this.#phoneLists().flat(), starts: [], from }
        : firstLists(this.#wanted(tier, from)),
    );
    this.#examined += await readAhead(reader.db, reader.access.orgNumber, lists, wanted);
  }

  /** The reader of a tier. */
  async readerOf({ tier, from }: TierFrom, known: KnownMatches): Promise<TierReader> {
    const { reader, matches } = this.#search;
    const chosen = tier === 'identifier' ? this.#phoneSources() : await this.#sourcesOf(tier, from);
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

  #sourcesOf(tier: TextTier, from: SearchPlace): Promise<ChosenSources | null> {
    const { reader, lists } = this.#search;
    return sourcesOf(reader.db, { ...this.#wanted(tier, from), lists, orgNumber: reader.access.orgNumber });
  }

  #wanted(tier: TextTier, from: SearchPlace): WantedLists {
    const { reader, request } = this.#search;
    return {
      ...{ tier, from, terms: request.query.terms, ownerId: reader.access.userId },
      resources: [...this.#resources],
      isWhole: this.#resources.size === SEARCHED_RESOURCES.length,
    };
  }

  #phoneSources(): ChosenSources | null {
    const sources = this.#phoneLists().map((names) => new Source(this.#search.lists, names));
    return sources.length === 0 ? null : { sources, texts: null, examined: 0 };
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
