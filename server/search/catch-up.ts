// What the search index does not have yet: a search looks at it by itself, or has it indexed first if it is much.
import { findPending, type PendingRecords } from '../../db/tables/search-pending.ts';
import { ApiError } from '../errors.ts';
import type { Reader } from '../records/rules.ts';

// With more, the index is brought up to date first.
const PENDING_MAX = 200;
// For longer, no request waits.
const CATCH_UP_MS_MAX = 5_000;
const RETRY_AFTER_SECONDS = 5;

/** Who searches, and how the index is brought up to date with the records of the organization. */
export interface Searcher extends Reader {
  updateIndex(): Promise<void>;
}

/**
 * The records that the index does not have as they are now, which are few.
 * @throws ApiError 503 if they do not become few in time
 */
export async function findPendingRecords({ db, access, updateIndex }: Searcher): Promise<PendingRecords> {
  const endsAt = performance.now() + CATCH_UP_MS_MAX;
  for (;;) {
    const pending = await findPending(db, access.orgNumber, PENDING_MAX);
    if (pending !== null) return pending;
    if (performance.now() > endsAt) throw catchingUp();
    await updateIndex();
  }
}

function catchingUp(): ApiError {
  const message =
    'The search index of your organization is still catching up with what was written; try again later.';
  const headers = { 'Retry-After': String(RETRY_AFTER_SECONDS) };
  return new ApiError('DATABASE_UNAVAILABLE', message, {
    headers,
    cause: 'many records are not indexed yet',
  });
}
