// Where a search looks for what matches in each of its tiers: in lists of the index, and among records that it knows already.

import type { Eventually } from '../../db/engine/engine.ts';
import type { Identifiers } from '../../db/model/identifiers.ts';
import { SEARCHED_RESOURCES, type TextTier } from '../../db/model/searched.ts';
import { indexedWord } from '../../db/model/words.ts';
import type { FirstLists } from '../../db/search/ahead.ts';
import { CandidateStream } from '../../db/search/candidates.ts';
import { ownerList, wordList } from '../../db/search/keys.ts';
import {
  comparePlaces,
  idStart,
  LAST_PLACE,
  previousPlace,
  type SearchPlace,
} from '../../db/search/places.ts';
import { searchNumber } from '../../db/search/resources.ts';
import { type ReadLists, Source } from '../../db/search/source.ts';
import { type ChosenSources, firstLists, sourcesOf, type WantedLists } from '../../db/search/sources.ts';
import type { Reader } from '../records/rules.ts';
import type { IdentifierMatch } from './identifiers.ts';
import { type FoundRecord, type Matches, SEARCH_TIERS, type SearchTier } from './matches.ts';
import {
  SEARCH_EXAMINED_MAX,
  SEARCH_RECORDS_MAX,
  type SearchPosition,
  type SearchRequest,
} from './request.ts';
import { newestFirst, TierReader } from './tier-reader.ts';

/** Lists of the index, some of which may be read already. */
export interface FirstRead {
  lists: ReadLists;
  /** How many entries are looked at, once what is read first is there. */
  examined: Eventually<number>;
}

/** A search that is under way. */
export interface SearchUnderWay extends FirstRead {
  reader: Reader;
  request: SearchRequest;
  identifiers: IdentifierMatch;
  matches: Matches;
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

// What choosing the lists and one step can examine.
const STEP_MAX = 4_000;

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

  /** Whether the next step could examine more than a request may. */
  get isSpent(): boolean {
    return this.examined > SEARCH_EXAMINED_MAX - STEP_MAX || this.#search.matches.read >= SEARCH_RECORDS_MAX;
  }

  /** Counts entries that were examined elsewhere. */
  count(examined: number): void {
    this.#examined += examined;
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
      readsAhead: () => !reader.db.engine.answersAtOnce && !this.isSpent,
    });
    this.#readers.push(made);
    return made;
  }

  #sourcesOf(tier: TextTier, from: SearchPlace): Promise<ChosenSources | null> {
    const { reader, request, lists } = this.#search;
    const wanted = wantedLists(reader, request, { tier, from });
    return sourcesOf(reader.db, { ...wanted, lists, orgNumber: reader.access.orgNumber });
  }

  #phoneSources(): ChosenSources | null {
    const { reader, identifiers, lists } = this.#search;
    const sources = phoneLists(reader, identifiers.identifiers).map((names) => new Source(lists, names));
    return sources.length === 0 ? null : { sources, texts: null, examined: 0 };
  }
}

/** The tiers that a page can have something of. */
export function tiersFrom({ after }: SearchRequest): TierFrom[] {
  const tiers = SEARCH_TIERS.slice(after === null ? 0 : SEARCH_TIERS.indexOf(after.tier));
  return tiers.map((tier) => ({ tier, from: placeFrom(tier, after) }));
}

/** The first place that is wanted of a tier. */
export function placeFrom(tier: SearchTier, after: SearchPosition | null): SearchPlace {
  return after?.tier === tier ? previousPlace(after.place) : LAST_PLACE;
}

/** What each tier of a page reads first. */
export function firstListsOf(reader: Reader, request: SearchRequest, identifiers: Identifiers): FirstLists[] {
  return tiersFrom(request).map(({ tier, from }) =>
    tier === 'identifier'
      ? { names: phoneLists(reader, identifiers).flat(), starts: [], from }
      : firstLists(wantedLists(reader, request, { tier, from })),
  );
}

function wantedLists(
  { access }: Reader,
  { query, resources }: SearchRequest,
  { tier, from }: { tier: TextTier; from: SearchPlace },
): WantedLists {
  const numbers = new Set(resources.map(searchNumber));
  return {
    ...{ tier, from, terms: query.terms, ownerId: access.userId },
    resources: [...numbers],
    isWhole: numbers.size === SEARCHED_RESOURCES.length,
  };
}

// The lists of a telephone number, if the query is one.
function phoneLists({ access: { userId } }: Reader, { phone }: Identifiers): string[][] {
  if (phone === null) return [];
  const lists = TEXT_TIERS.map((tier) => wordList(tier, indexedWord(phone)));
  return userId === null ? [lists] : [lists, [ownerList(userId)]];
}

/** How the ID of a record begins, as that of no other does. */
export function startOf({ place }: Pick<FoundRecord, 'place'>): string {
  return idStart(place);
}
