// What became of the items of a batch, each of which succeeds or is rejected on its own.

import { QuotaError } from '../../db/engine/quota.ts';
import type { Trx } from '../../db/engine/schema.ts';
import { withSavepoint } from '../../db/engine/transaction.ts';
import type { Data } from '../../db/model/json.ts';
import { ApiError } from '../errors.ts';
import { quotaRefusal } from '../quotas/quota-errors.ts';

/** What can become of an item that succeeds. */
export type BatchStatus = 'created' | 'updated' | 'unchanged' | 'deleted' | 'found' | 'linked' | 'unlinked';

/** The status of an item and what the response shows of it, or why it was rejected. */
export type ItemOutcome = { status: BatchStatus; data?: Data } | ApiError;

/**
 * Carries out items one after another; one that is rejected leaves nothing behind.
 * @throws errors that are not part of the API
 */
export async function oneByOne<Item>(
  trx: Trx,
  items: readonly Item[],
  carryOut: (item: Item) => Promise<ItemOutcome>,
): Promise<ItemOutcome[]> {
  const outcomes: ItemOutcome[] = [];
  for (const item of items) outcomes.push(await withSavepoint(trx, () => carryOut(item)).catch(refusalOf));
  return outcomes;
}

/**
 * The public error that rejects an item.
 * @throws errors that are not part of the API
 */
export function refusalOf(error: unknown): ApiError {
  if (error instanceof QuotaError) return quotaRefusal(error);
  if (error instanceof ApiError) return error;
  throw error;
}
