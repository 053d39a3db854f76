// Quotas for tests: set as the operator sets them, and counts checked against what is stored.
import { changeQuota } from '../../cli/organizations/quota.ts';
import { getOrganization } from '../../db/accounts/accounts.ts';
import { listQuotas, type Quota } from '../../db/accounts/quotas.ts';
import type { RecordTotals } from '../../db/engine/transaction.ts';
import { countRecordTotals } from '../../db/tables/content-bytes.ts';
import type { Harness } from './harness.ts';

export const UNLIMITED: Quota = { records: null, bytes: null, bytesInFlight: null, replayBytes: null };

/** Sets the quota of the harness's organization; what is left out is without a limit. */
export async function setQuota(
  { store, dbPath, orgNumber }: Pick<Harness, 'store' | 'dbPath' | 'orgNumber'>,
  quota: Partial<Quota>,
): Promise<void> {
  return changeQuota(store, dbPath, await getOrganization(store.read, orgNumber), { ...UNLIMITED, ...quota });
}

/** What is counted of the organization. */
export async function countedIn({
  store,
  orgNumber,
}: Pick<Harness, 'store' | 'orgNumber'>): Promise<RecordTotals | null> {
  return (await listQuotas(store.read, orgNumber)).get(orgNumber)?.held ?? null;
}

/** What the organization has. */
export function recordTotalsOf({
  store,
  orgNumber,
}: Pick<Harness, 'store' | 'orgNumber'>): Promise<RecordTotals> {
  return countRecordTotals(store.read, orgNumber);
}
