// What became of the items of a batch, each of which succeeds or is rejected on its own.

import type { Eventually } from '../../db/engine/engine.ts';
import { QuotaError } from '../../db/engine/quota.ts';
import type { Data } from '../../db/model/json.ts';
import { ApiError } from '../errors.ts';
import { quotaRefusal } from '../quotas/quota-errors.ts';

/** What can become of an item that succeeds. */
export type BatchStatus = 'created' | 'updated' | 'unchanged' | 'deleted' | 'found' | 'linked' | 'unlinked';

/** The status of an item and what the response shows of it, or why it was rejected. */
export type ItemOutcome = { status: BatchStatus; data?: Data } | ApiError;

/**
 * The public error that rejects an item.
 * @throws errors that are not part of the API
 */
export function refusalOf(error: unknown): ApiError {
  if (error instanceof QuotaError) return quotaRefusal(error);
  if (error instanceof ApiError) return error;
  throw error;
}

/**
 * Carries out a part that can be rejected; the result is then the public error.
 * @throws errors that are not part of the API
 */
export function orRefusal<T>(part: () => Eventually<T>): Eventually<T | ApiError> {
  try {
    const done = part();
    return done instanceof Promise ? done.catch(refusalOf) : done;
  } catch (error) {
    return refusalOf(error);
  }
}
