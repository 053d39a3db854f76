// Quotas of organizations: set while servers run, effective with the next request, and shown with their use.

import {
  beginCount,
  findUncounted,
  type Quota,
  type QuotaUse,
  saveQuota,
  setBodyQuota,
  setReplayQuota,
} from '../../db/accounts/quotas.ts';
import type { OrganizationRow } from '../../db/engine/schema.ts';
import type { RecordTotals } from '../../db/engine/transaction.ts';
import type { Data } from '../../db/model/json.ts';
import type { Store } from '../../db/store.ts';
import { countRecordTotals } from '../../db/tables/content-bytes.ts';
import { recordAction } from '../database/audit.ts';
import { databaseError, withSnapshot } from '../database/database.ts';
import { CliError } from '../errors.ts';

/** The fields shown for a quota; a limit that is not set is null. */
export const QUOTA_FIELDS = [
  'records',
  'records_limit',
  'bytes',
  'bytes_limit',
  'bytes_in_flight_limit',
  'replay_bytes',
  'replay_bytes_limit',
];

/** The fields that are in bytes. */
export const QUOTA_SIZES: ReadonlySet<string> = new Set(
  QUOTA_FIELDS.filter((name) => /(?:^|_)bytes(?:_|$)/.test(name)),
);

/** A quota and its use, as shown. */
export function quotaData({ quota, held, replayBytes, replayBytesMax }: Omit<QuotaUse, 'orgNumber'>): Data {
  return {
    records: held?.records ?? null,
    records_limit: quota.records,
    bytes: held?.bytes ?? null,
    bytes_limit: quota.bytes,
    bytes_in_flight_limit: quota.bytesInFlight,
    replay_bytes: replayBytes,
    replay_bytes_limit: replayBytesMax,
  };
}

/** Whether the organization has a limit besides the default ones. */
export function isLimited({ records, bytes, bytesInFlight, replayBytes }: Quota): boolean {
  return [records, bytes, bytesInFlight, replayBytes].some((limit) => limit !== null);
}

/**
 * Sets the quota of an organization after counting everything that it stores; until then, writes use the former quota.
 * @param db as given by the operator
 * @throws CliError if another crm does the same
 */
export async function changeQuota(
  store: Store,
  db: string,
  { number, id }: Pick<OrganizationRow, 'number' | 'id'>,
  quota: Quota,
): Promise<void> {
  const countId = await store.write(number, (trx) => beginCount(trx, number));
  const uncounted = await atOneMoment(db, (read) => findUncounted(read, number));
  if (!(await store.write(number, (trx) => saveQuota(trx, number, quota, { countId, uncounted })))) {
    throw new CliError('Another command is setting the quota of this organization. Nothing was changed.', {
      nextSteps: ['run the same command again when the other one is done.'],
    });
  }
  await store.write(number, (trx) => setReplayQuota(trx, number, quota.replayBytes));
  await store.write('accounts', async (trx) => {
    await setBodyQuota(trx, number, quota.bytesInFlight);
    const { records, bytes, bytesInFlight, replayBytes } = quota;
    const details = { records, bytes, bytes_in_flight: bytesInFlight, replay_bytes: replayBytes };
    const target = { type: 'organizations', id };
    await recordAction(trx, { orgNumber: number, action: 'quota.changed', target, details });
  });
}

/** What an organization stores, counted now. */
export async function countNow(db: string, orgNumber: number): Promise<RecordTotals> {
  return atOneMoment(db, (read) => countRecordTotals(read, orgNumber));
}

async function atOneMoment<T>(db: string, look: (read: Store['read']) => Promise<T>): Promise<T> {
  try {
    return await withSnapshot(db, look);
  } catch (error) {
    throw databaseError(db, error);
  }
}
