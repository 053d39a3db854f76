// What a search reads first: which runs the index has, and at once what it needs of those that it had at the last search.

import type { Identifiers } from '../../db/model/identifiers.ts';
import { readAhead } from '../../db/search/ahead.ts';
import type { KeptLists } from '../../db/search/kept.ts';
import type { Run } from '../../db/search/runs.ts';
import { ReadLists } from '../../db/search/source.ts';
import type { SearchState } from '../../db/search/state.ts';
import { findCaughtUp, type Searcher } from './catch-up.ts';
import type { SearchRequest } from './request.ts';
import { type FirstRead, firstListsOf } from './tiers.ts';

interface FirstReadsOptions {
  /** Its statements run in the order in which they are asked. */
  searcher: Searcher;
  request: SearchRequest;
  identifiers: Identifiers;
  kept: KeptLists;
}

/** Reads what one search needs first. */
export class FirstReads {
  readonly #options: FirstReadsOptions;
  // Of the runs of the last search.
  #guess: FirstRead | null = null;
  // How much was read by all searches before this one asked for the state.
  #since = 0;

  constructor(options: FirstReadsOptions) {
    this.#options = options;
  }

  /** The state of the index, as `findCaughtUp` gives it. */
  async findState(): Promise<SearchState> {
    const { searcher, kept } = this.#options;
    const { db, access } = searcher;
    if (db.engine.answersAtOnce) return findCaughtUp(searcher);
    const updateIndex = () => {
      this.#guess = null;
      return searcher.updateIndex();
    };
    this.#since = kept.read;
    const asked = findCaughtUp({ ...searcher, updateIndex });
    const runs = kept.runsOf(access.orgNumber);
    // It runs behind what finds the state, so that it sees what is there then, as if that had been waited for.
    if (runs !== undefined) this.#guess = this.#read(runs);
    return asked;
  }

  /** What is read first of the runs of a state; nothing where that takes no time. */
  of(runs: readonly Run[]): FirstRead {
    const guess = this.#guess;
    this.#guess = null;
    const isRight = guess !== null && Bun.deepEquals(guess.lists.runs, runs);
    return isRight ? guess : this.#read(runs);
  }

  #read(runs: readonly Run[]): FirstRead {
    const { searcher, request, identifiers, kept } = this.#options;
    if (searcher.db.engine.answersAtOnce) return { lists: new ReadLists(runs), examined: 0 };
    const lists = kept.lists(searcher.access.orgNumber, runs, this.#since);
    const wanted = firstListsOf(searcher, request, identifiers);
    const examined = readAhead(searcher.db, searcher.access.orgNumber, lists, wanted);
    // If nobody waits for it.
    examined.catch(() => undefined);
    return { lists, examined };
  }
}
