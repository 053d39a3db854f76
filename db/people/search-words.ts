// Brings the search index up to date after an erasure: the words that were erased leave it, and the values they came from.
import { nextTurn } from '../event-loop.ts';
import { mergeWhole } from '../search/merges.ts';
import { indexPending } from '../search/pending.ts';
import type { Store } from '../store.ts';

/** Removes the words of records that were deleted or changed from the search index. */
export async function eraseSearchWords(store: Store, orgNumber: number): Promise<void> {
  while (await store.write(orgNumber, (trx) => indexPending(trx, orgNumber))) await nextTurn();
  while (await store.write(orgNumber, (trx) => mergeWhole(trx, orgNumber))) await nextTurn();
}
