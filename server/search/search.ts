// A page of a search: what matches best first, and within that what is newest.

import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import type { SearchQuery } from '../../db/model/search-query.ts';
import { SEARCHED_RESOURCES } from '../../db/model/searched.ts';
import { indexedWord } from '../../db/model/words.ts';
import { longTexts, PageSizeLimit } from '../../db/tables/page-size.ts';
import { CandidateStream } from '../../db/tables/search-candidates.ts';
import { ownerList, wordList } from '../../db/tables/search-keys.ts';
import type { PendingRecords } from '../../db/tables/search-pending.ts';
import {
  comparePlaces,
  idStart,
  LAST_PLACE,
  placeOfId,
  previousPlace,
  type SearchPlace,
} from '../../db/tables/search-places.ts';
import { searchedResource, searchNumber } from '../../db/tables/search-resources.ts';
import { areThere, findLiveRuns, type Run } from '../../db/tables/search-runs.ts';
import { ReadLists, Source } from '../../db/tables/search-source.ts';
import { type ChosenSources, sourcesOf } from '../../db/tables/search-sources.ts';
import type { Reader } from '../records/rules.ts';
import { findPendingRecords, type Searcher } from './catch-up.ts';
import { IdentifierMatch } from './identifiers.ts';
import { type FoundRecord, Matches, SEARCH_TIERS, type SearchTier } from './matches.ts';
import { showFound } from './shown.ts';
import { newestFirst, TierReader } from './tier-reader.ts';

/** How many entries of the index, and how many records, a request examines. */
export const SEARCH_EXAMINED_MAX = 10_000;
export const SEARCH_RECORDS_MAX = 1_000;
// What choosing the lists and one step can examine.
const STEP_MAX = 4_000;
const RECORDS_AT_ONCE = 32;

/** A place in what a search finds. */
export interface SearchPosition {
  tier: SearchTier;
  place: SearchPlace;
}

export interface SearchRequest {
  query: SearchQuery;
  /** Those that are searched; at least one. */
  resources: readonly Resource[];
  /** The position before the page; null for the first one. */
  after: SearchPosition | null;
  limit: number;
}

export interface SearchPage {
  items: Data[];
  /** The position of each item. */
  positions: SearchPosition[];
  /** The position after the page; null at the end. */
  next: SearchPosition | null;
  /** How many entries of the index, and how many records, were examined. */
  examined: { entries: number; records: number };
}

/**
 * A page of what a search finds among the records that the key can see. While too much is not indexed yet, it is empty, and
 * the next one begins at the same position.
 */
export async function searchRecords(searcher: Searcher, request: SearchRequest): Promise<SearchPage> {
  const { db, access } = searcher;
  const [pending, identifiers] = await Promise.all([
    findPendingRecords(searcher),
    IdentifierMatch.of(searcher, request.query),
  ]);
  if (pending === null) return emptyPage(request);
  for (;;) {
    // Only now: what is not pending any longer is in one of them.
    const runs = await findLiveRuns(db, access.orgNumber);
    const matches = new Matches(searcher, request.query, identifiers);
    const search = new Search(searcher, request, { identifiers, matches, runs });
    const page = await search.page(pending);
    if (page !== null) return page;
  }
}

function emptyPage({ after }: SearchRequest): SearchPage {
  const next = after ?? { tier: SEARCH_TIERS[0], place: LAST_PLACE };
  return { items: [], positions: [], next, examined: { entries: 0, records: 0 } };
}

class Search {
  readonly #reader: Reader;
  readonly #request: SearchRequest;
  readonly #identifiers: IdentifierMatch;
  readonly #matches: Matches;
  /** Their numbers. */
  readonly #resources: ReadonlySet<number>;
  readonly #size: PageSizeLimit;
  readonly #lists: ReadLists;
  readonly #found: FoundRecord[] = [];
  #entries = 0;

  constructor(
    reader: Reader,
    request: SearchRequest,
    { identifiers, matches, runs }: { identifiers: IdentifierMatch; matches: Matches; runs: readonly Run[] },
  ) {
    this.#reader = reader;
    this.#request = request;
    this.#identifiers = identifiers;
    this.#matches = matches;
    this.#lists = new ReadLists(runs);
    this.#resources = new Set(request.resources.map(searchNumber));
    this.#size = new PageSizeLimit([...new Set(request.resources.flatMap(longTexts))]);
  }

  /** The page; null if it must be read again, because runs were merged and rows of them may have been missing. */
  async page(pending: PendingRecords): Promise<SearchPage | null> {
    const next = await this.#collect(pending);
    const { db, access } = this.#reader;
    const [areRead, items] = await Promise.all([
      areThere(db, access.orgNumber, this.#lists.runs),
      showFound(this.#reader, this.#found),
    ]);
    if (!areRead) return null;
    return {
      items,
      positions: this.#found.map(positionOf),
      next,
      examined: { entries: this.#entries, records: this.#matches.read },
    };
  }

  // The position after the page.
  async #collect(pending: PendingRecords): Promise<SearchPosition | null> {
    const { after } = this.#request;
    const noted = await this.#amongPending(pending);
    const decided = new Set([...pending.ids.values()].flatMap((ids) => [...ids].map(startOf)));
    const tiers = SEARCH_TIERS.slice(after === null ? 0 : SEARCH_TIERS.indexOf(after.tier));
    for (const tier of tiers) {
      const from = after?.tier === tier ? previousPlace(after.place) : LAST_PLACE;
      const reader = await this.#readerOf(tier, from, { noted, decided });
      const chosen = this.#entries;
      for (;;) {
        const { found, reached } = await reader.next(this.#recordsWanted);
        this.#entries = chosen + reader.examined;
        for (const one of found) if (!this.#take(one)) return positionOf(this.#found.at(-1) as FoundRecord);
        if (reached === null) break;
        if (this.#isSpent) return { tier, place: reached };
      }
      const further = tiers[tiers.indexOf(tier) + 1];
      if (this.#isSpent && further !== undefined) return { tier: further, place: LAST_PLACE };
    }
    return null;
  }

  // Whether there is room for a record.
  #take(one: FoundRecord): boolean {
    if (this.#found.length === this.#request.limit || !this.#size.takesMore) return false;
    this.#size.count(one.row);
    this.#found.push(one);
    return true;
  }

  get #isSpent(): boolean {
    return this.#entries > SEARCH_EXAMINED_MAX - STEP_MAX || this.#matches.read >= SEARCH_RECORDS_MAX;
  }

  get #recordsWanted(): number {
    const wanted = Math.max(RECORDS_AT_ONCE / 4, this.#request.limit + 1 - this.#found.length);
    return Math.min(RECORDS_AT_ONCE, wanted);
  }

  async #amongPending({ ids }: PendingRecords): Promise<FoundRecord[]> {
    const found: FoundRecord[] = [];
    for (const [number, some] of ids)
      if (this.#resources.has(number))
        found.push(...(await this.#matches.among(searchedResource(number), [...some])));
    return found;
  }

  async #readerOf(
    tier: SearchTier,
    from: SearchPlace,
    { noted, decided }: { noted: readonly FoundRecord[]; decided: ReadonlySet<string> },
  ): Promise<TierReader> {
    const identified = tier === 'identifier' ? await this.#identified(from, decided) : [];
    const beside = [...noted.filter((one) => one.tier === tier), ...identified];
    const chosen = tier === 'identifier' ? this.#phoneSources() : await this.#sourcesOf(tier, from);
    const stream =
      chosen && new CandidateStream(this.#reader.db, this.#reader.access.orgNumber, chosen, from);
    this.#entries += chosen?.examined ?? 0;
    return new TierReader(this.#matches, stream, {
      tier,
      resources: this.#resources,
      beside: newestFirst(beside.filter(({ place }) => comparePlaces(place, from) <= 0)),
      decided: new Set([...decided, ...identified.map(({ row }) => startOf(row.id))]),
    });
  }

  // What is found by unique values and IDs.
  async #identified(from: SearchPlace, decided: ReadonlySet<string>): Promise<FoundRecord[]> {
    const range = { last: `${idStart(from)}g`, limit: this.#request.limit + 1 };
    const ofResources = this.#request.resources.map(async (resource) => {
      const ids = await this.#identifiers.ids(this.#reader, resource, range);
      const others = ids.filter((id) => !decided.has(startOf(id)));
      return others.length > 0 ? this.#matches.among(resource, others) : [];
    });
    const found = (await Promise.all(ofResources)).flat();
    return found.filter(({ tier }) => tier === 'identifier');
  }

  #phoneSources(): ChosenSources | null {
    const { phone } = this.#identifiers.identifiers;
    if (phone === null) return null;
    const names = (['name', 'text'] as const).map((tier) => wordList(tier, indexedWord(phone)));
    const { userId } = this.#reader.access;
    const owned = userId === null ? [] : [new Source(this.#lists, [ownerList(userId)])];
    return { sources: [new Source(this.#lists, names), ...owned], texts: null, examined: 0 };
  }

  #sourcesOf(tier: 'name' | 'text', from: SearchPlace): Promise<ChosenSources | null> {
    const { orgNumber, userId } = this.#reader.access;
    return sourcesOf(this.#reader.db, {
      ...{ orgNumber, tier, from, lists: this.#lists, ownerId: userId, terms: this.#request.query.terms },
      resources: [...this.#resources],
      isWhole: this.#resources.size === SEARCHED_RESOURCES.length,
    });
  }
}

function startOf(id: string): string {
  return idStart(placeOfId(id));
}

function positionOf({ tier, place }: FoundRecord): SearchPosition {
  return { tier, place };
}
