// Sets the quota of an organization, also beside a server, from the very next write on.
import type { Store } from '../../db/store.ts';
import type { Quota } from '../../db/tables/quotas.ts';
import { CliError } from '../errors.ts';
import { databaseError } from './database.ts';

/**
 * Sets the quota of an organization, once all that it holds is counted; writes go on meanwhile, under the quota before.
 * @param db as the operator named it
 * @throws CliError where another crm does the same
 */
export async function changeQuota(store: Store, db: string, orgId: number, quota: Quota): Promise<void> {
  const { beginCount, findUncounted, saveQuota, setBodyQuota } = await import('../../db/tables/quotas.ts');
  const countId = await store.write(orgId, (trx) => beginCount(trx, orgId));
  const uncounted = await atOneMoment(db, (read) => findUncounted(read, orgId));
  if (await store.write(orgId, (trx) => saveQuota(trx, orgId, quota, { countId, uncounted })))
    return store.write('accounts', (trx) => setBodyQuota(trx, orgId, quota.bytesInFlight));
  throw new CliError('Another crm has begun to set the quota of this organization, and this one has not.', {
    nextSteps: ['run the same command again when it is done.'],
  });
}

async function atOneMoment<T>(db: string, look: (read: Store['read']) => Promise<T>): Promise<T> {
  const { openSnapshot } = await import('../../db/store.ts');
  try {
    const snapshot = await openSnapshot(db);
    return await look(snapshot.read).finally(() => snapshot.close());
  } catch (error) {
    throw await databaseError(db, error);
  }
}
