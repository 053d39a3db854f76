// What the search index does not have yet: a search looks at it by itself, or has it indexed first if it is much.
import { findPending, type PendingRecords } from '../../db/tables/search-pending.ts';
import type { Reader } from '../records/rules.ts';

// With more, the index is brought up to date first.
const PENDING_MAX = 200;
// Each takes a second at most.
const UPDATES_MAX = 5;

/** Who searches, and how the index is brought up to date with the records of the organization. */
export interface Searcher extends Reader {
  updateIndex(): Promise<void>;
}

/** The records that the index does not have as they are now, which are few; null if they do not become few in time. */
export async function findPendingRecords({
  db,
  access,
  updateIndex,
}: Searcher): Promise<PendingRecords | null> {
  for (let updates = 0; ; updates++) {
    const pending = await findPending(db, access.orgNumber, PENDING_MAX);
    if (pending !== null || updates === UPDATES_MAX) return pending;
    await updateIndex();
  }
}
