// Collects a page of a search, tier by tier: what matches best first, and within that what is newest.

import { idStart, placeOfId, type SearchPlace } from '../../db/search/places.ts';
import { searchedResource, searchNumber } from '../../db/search/resources.ts';
import { areThere } from '../../db/search/runs.ts';
import type { PendingRecords } from '../../db/search/state.ts';
import { longTexts, PageSizeLimit } from '../../db/tables/page-size.ts';
import type { FoundRecord } from './matches.ts';
import type { SearchPage, SearchPosition } from './request.ts';
import { showFound } from './shown.ts';
import type { TierReader } from './tier-reader.ts';
import {
  type KnownMatches,
  placeFrom,
  type SearchUnderWay,
  startOf,
  type TierFrom,
  Tiers,
  tiersFrom,
} from './tiers.ts';

const RECORDS_AT_ONCE = 32;

/** One page. */
export class PageSearch {
  readonly #search: SearchUnderWay;
  readonly #tiers: Tiers;
  readonly #size: PageSizeLimit;
  readonly #found: FoundRecord[] = [];
  // Whether all runs are there, if that was asked after the index was read for the last time.
  #areThere: Promise<boolean> | null = null;
  #hasBegun = false;

  constructor(search: SearchUnderWay) {
    this.#search = search;
    this.#tiers = new Tiers(search);
    this.#size = new PageSizeLimit([...new Set(search.request.resources.flatMap(longTexts))]);
  }

  /** The page; null if it must be read again, because runs were merged and rows of them may have been missing. */
  async page(pending: PendingRecords): Promise<SearchPage | null> {
    const next = await this.#collect(pending);
    const { reader, matches } = this.#search;
    const [areRead, items] = await Promise.all([
      this.#areThere ?? this.#askWhetherThere(),
      showFound(reader, this.#found),
    ]);
    if (!areRead) return null;
    return {
      items,
      positions: this.#found.map(positionOf),
      next,
      examined: { entries: this.#tiers.examined, records: matches.read },
    };
  }

  // The position after the page.
  async #collect(pending: PendingRecords): Promise<SearchPosition | null> {
    const tiers = tiersFrom(this.#search.request);
    const isTogether = !this.#search.reader.db.engine.answersAtOnce;
    const [known, examined] = await Promise.all([this.#known(pending), this.#search.examined]);
    this.#tiers.count(examined);
    const readerOf = (tier: TierFrom) => this.#tiers.readerOf(tier, known);
    const readers = isTogether ? await Promise.all(tiers.map(readerOf)) : [];
    await Promise.all(readers.map((reader) => reader.prepare()));
    for (const [at, tier] of tiers.entries()) {
      const reader = readers[at] ?? (await readerOf(tier));
      for (;;) {
        this.#begin(readers.slice(at));
        const { found, reached } = await reader.next(this.#recordsWanted);
        for (const one of found) if (!this.#take(one)) return positionOf(this.#found.at(-1) as FoundRecord);
        if (reached === null) break;
        if (this.#tiers.isSpent && !reader.hasReadAhead) return { tier: tier.tier, place: reached };
      }
      const further = tiers[at + 1];
      if (this.#tiers.isSpent && further !== undefined) return { tier: further.tier, place: further.from };
    }
    return null;
  }

  // Begins together what is read in any case: of a tier, and of further ones if those before have too little to fill the page.
  #begin(readers: readonly TierReader[]): void {
    let room = this.#search.request.limit + 1 - this.#found.length;
    let hasBegun = false;
    // Then it is asked with the records whether the runs are there.
    let isReadOnce = !this.#hasBegun;
    for (const reader of readers) {
      if (room <= 0) break;
      room -= reader.countMax;
      isReadOnce &&= reader.hasCandidates;
      hasBegun = reader.begin(this.#recordsWanted) || hasBegun;
    }
    if (!hasBegun) return;
    this.#hasBegun = true;
    this.#areThere = isReadOnce ? this.#askWhetherThere() : null;
    // If nobody waits for it.
    this.#areThere?.catch(() => undefined);
  }

  async #askWhetherThere(): Promise<boolean> {
    const { reader, lists } = this.#search;
    return lists.areKept || areThere(reader.db, reader.access.orgNumber, lists.runs);
  }

  // Whether there is room for a record.
  #take(one: FoundRecord): boolean {
    if (this.#found.length === this.#search.request.limit || !this.#size.takesMore) return false;
    this.#size.count(one.row);
    this.#found.push(one);
    return true;
  }

  get #recordsWanted(): number {
    const wanted = Math.max(RECORDS_AT_ONCE / 4, this.#search.request.limit + 1 - this.#found.length);
    return Math.min(RECORDS_AT_ONCE, wanted);
  }

  // What is pending, and what is found by unique values and IDs.
  async #known(pending: PendingRecords): Promise<KnownMatches> {
    const noted = new Set([...pending.ids.values()].flatMap((ids) => [...ids].map(startOfId)));
    const [among, identified] = await Promise.all([this.#amongPending(pending), this.#identified(noted)]);
    return { found: [...among, ...identified], starts: noted.union(new Set(identified.map(startOf))) };
  }

  async #amongPending({ ids }: PendingRecords): Promise<FoundRecord[]> {
    const { matches, request } = this.#search;
    const wanted = new Set(request.resources.map(searchNumber));
    const some = [...ids].filter(([number]) => wanted.has(number));
    const found = some.map(([number, of]) => matches.among(searchedResource(number), [...of]));
    return (await Promise.all(found)).flat();
  }

  async #identified(pending: ReadonlySet<string>): Promise<FoundRecord[]> {
    const { request, identifiers, matches } = this.#search;
    const { resources, after } = request;
    if (after !== null && after.tier !== 'identifier') return [];
    const last = lastId(placeFrom('identifier', after));
    const ofResources = resources.map((resource) => {
      const others = identifiers.ids(resource, last).filter((id) => !pending.has(startOfId(id)));
      return others.length > 0 ? matches.among(resource, others) : [];
    });
    const found = (await Promise.all(ofResources)).flat();
    return found.filter(({ tier }) => tier === 'identifier');
  }
}

/** The greatest ID of a record at a place: no digit comes after this letter. */
export function lastId(place: SearchPlace): string {
  return `${idStart(place)}g`;
}

function startOfId(id: string): string {
  return idStart(placeOfId(id));
}

function positionOf({ tier, place }: FoundRecord): SearchPosition {
  return { tier, place };
}
