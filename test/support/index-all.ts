// The search index as tests want it: complete.
import { indexPending } from '../../db/search/pending.ts';
import type { Harness } from './harness.ts';

/** Indexes all that an organization has written, however long that takes; a search waits for a second. */
export async function indexAll({ store, orgNumber }: Pick<Harness, 'store' | 'orgNumber'>): Promise<void> {
  const index = () => store.write(orgNumber, (trx) => indexPending(trx, orgNumber));
  while (await index());
}
