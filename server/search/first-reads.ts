// What a search reads first: which runs the index has, and at once what it needs of those that it had at the last search.

import { BoundedMap, memoize } from '../../db/cache.ts';
import type { Db } from '../../db/engine/schema.ts';
import type { Identifiers } from '../../db/model/identifiers.ts';
import { readAhead } from '../../db/tables/search-ahead.ts';
import type { Run } from '../../db/tables/search-runs.ts';
import { ReadLists } from '../../db/tables/search-source.ts';
import type { SearchState } from '../../db/tables/search-state.ts';
import { findCaughtUp, type Searcher } from './catch-up.ts';
import type { SearchRequest } from './request.ts';
import { type FirstRead, firstListsOf } from './tiers.ts';

const ORGANIZATIONS_MAX = 10_000;

/** The runs that the indexes of organizations had when they were searched last, by the numbers of these. */
export const lastRuns = memoize((_: Db) => new BoundedMap<number, readonly Run[]>(ORGANIZATIONS_MAX));

interface FirstReadsOptions {
  /** Its statements run in the order in which they are asked. */
  searcher: Searcher;
  request: SearchRequest;
  identifiers: Identifiers;
  last: Map<number, readonly Run[]>;
}

/** Reads what one search needs first. */
export class FirstReads {
  readonly #options: FirstReadsOptions;
  // Of the runs of the last search.
  #guess: FirstRead | null = null;

  constructor(options: FirstReadsOptions) {
    this.#options = options;
  }

  /** The state of the index, as `findCaughtUp` gives it. */
  async findState(): Promise<SearchState> {
    const { searcher, last } = this.#options;
    const { db, access } = searcher;
    if (db.engine.answersAtOnce) return findCaughtUp(searcher);
    const updateIndex = () => {
      this.#guess = null;
      return searcher.updateIndex();
    };
    const asked = findCaughtUp({ ...searcher, updateIndex });
    const runs = last.get(access.orgNumber);
    // It runs behind what finds the state, so that it sees what is there then, as if that had been waited for.
    if (runs !== undefined) this.#guess = this.#read(runs);
    const state = await asked;
    last.set(access.orgNumber, state.runs);
    return state;
  }

  /** What is read first of the runs of a state; nothing where that takes no time. */
  of(runs: readonly Run[]): FirstRead {
    const guess = this.#guess;
    this.#guess = null;
    const isRight = guess !== null && Bun.deepEquals(guess.lists.runs, runs);
    return isRight ? guess : this.#read(runs);
  }

  #read(runs: readonly Run[]): FirstRead {
    const { searcher, request, identifiers } = this.#options;
    const lists = new ReadLists(runs);
    if (searcher.db.engine.answersAtOnce) return { lists, examined: 0 };
    const wanted = firstListsOf(searcher, request, identifiers);
    const examined = readAhead(searcher.db, searcher.access.orgNumber, lists, wanted);
    // If nobody waits for it.
    examined.catch(() => undefined);
    return { lists, examined };
  }
}
