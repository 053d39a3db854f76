// What the search index does not have yet: a search looks at it by itself, or has it indexed first if it is much.
import { SEARCH_PART } from '../../db/search/check.ts';
import { findSearchState, type SearchState } from '../../db/search/state.ts';
import { requireFilled } from '../backfills.ts';
import type { Reader } from '../records/rules.ts';

// With more, the index is brought up to date first.
const PENDING_MAX = 200;
// Each takes a second at most.
const UPDATES_MAX = 5;

/** Who searches, and how the index is brought up to date with the records of the organization. */
export interface Searcher extends Reader {
  updateIndex(): Promise<void>;
}

/**
 * The state of the index, once it lacks few records as they are now; its `pending` is null if it does not come so far in time.
 * @throws ApiError 503 if the index is not built yet
 */
export async function findCaughtUp({ db, access, updateIndex }: Searcher): Promise<SearchState> {
  for (let updates = 0; ; updates++) {
    const state = await findSearchState(db, access.orgNumber, PENDING_MAX);
    if (!state.isFilled) await requireFilled(db, access.orgNumber, SEARCH_PART);
    else if (state.pending !== null || updates === UPDATES_MAX) return state;
    else await updateIndex();
  }
}
