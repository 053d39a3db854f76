// The quotas of organizations: set by the operator, who can see their usage.

import { changeOrganizationRow } from '../engine/organization-state.ts';
import type { Db, Trx } from '../engine/schema.ts';
import { STORED_RESPONSE_BYTES_MAX, storedResponseBytes } from '../engine/stored-response-bytes.ts';
import type { RecordTotals } from '../engine/transaction.ts';
import { countRecordTotals } from '../tables/content-bytes.ts';

/** The limits of what an organization holds; null for no limit. */
export interface HeldQuota {
  records: number | null;
  bytes: number | null;
}

/** All limits of an organization; null for no limit, or for the default. */
export interface Quota extends HeldQuota {
  /** Of request bodies in flight, in each serving process. */
  bytesInFlight: number | null;
  /** Of stored responses; null for the default. */
  replayBytes: number | null;
}

export interface QuotaUse {
  orgNumber: number;
  quota: Quota;
  /** Null if not counted, which is the case without a quota of records or bytes. */
  held: RecordTotals | null;
  /** Bytes of stored responses, and their limit. */
  replayBytes: number;
  replayBytesMax: number;
}

/** The quotas of all organizations by number, or of one, with their usage. */
export async function listQuotas(
  db: Db,
  orgNumber?: number,
  now = Date.now(),
): Promise<Map<number, QuotaUse>> {
  let query = db
    .selectFrom('organizations as organization')
    .leftJoin('org_clocks as clock', 'clock.org_id', 'organization.number')
    .select(['organization.number', 'organization.body_bytes_max', 'clock.answer_bytes_max'])
    .select(['clock.records', 'clock.bytes', 'clock.records_max', 'clock.bytes_max', 'clock.answer_bytes']);
  if (orgNumber !== undefined) query = query.where('organization.number', '=', orgNumber);
  const rows = await query.execute();
  return new Map(
    rows.map(({ number, records, bytes, ...row }): [number, QuotaUse] => {
      const quota: Quota = {
        records: row.records_max,
        bytes: row.bytes_max,
        bytesInFlight: row.body_bytes_max,
        replayBytes: row.answer_bytes_max,
      };
      const held = records === null || bytes === null ? null : { records, bytes };
      const replayBytes = storedResponseBytes(row.answer_bytes, now);
      const replayBytesMax = quota.replayBytes ?? STORED_RESPONSE_BYTES_MAX;
      return [number, { orgNumber: number, quota, held, replayBytes, replayBytesMax }];
    }),
  );
}

/** The size of all stored responses, and the largest fraction of its limit that an organization has used. */
export async function sumReplayBytes(db: Db, now: number): Promise<{ bytes: number; usedMost: number }> {
  const rows = await db
    .selectFrom('org_clocks')
    .select(['answer_bytes', 'answer_bytes_max'])
    .where('answer_bytes', 'is not', null)
    .execute();
  const sums = { bytes: 0, usedMost: 0 };
  for (const { answer_bytes, answer_bytes_max } of rows) {
    const bytes = storedResponseBytes(answer_bytes, now);
    sums.bytes += bytes;
    sums.usedMost = Math.max(
      sums.usedMost,
      bytes / Math.max(1, answer_bytes_max ?? STORED_RESPONSE_BYTES_MAX),
    );
  }
  return sums;
}

/**
 * Starts counting every write of the organization. What it held before is then counted in a later snapshot, and added by
 * `saveQuota`, so that no one waits for the count.
 * @returns the ID of this count
 */
export async function beginCount(trx: Trx, orgNumber: number): Promise<string> {
  const count_id = crypto.randomUUID();
  const update = trx
    .updateTable('org_clocks')
    .set((eb) => ({
      count_id,
      records: eb.fn.coalesce('records', eb.lit(0)),
      bytes: eb.fn.coalesce('bytes', eb.lit(0)),
    }))
    .where('org_id', '=', orgNumber);
  await changeOrganizationRow(trx, orgNumber, () => update.execute());
  return count_id;
}

/** How much more the organization holds than was counted, at the moment of the snapshot. */
export async function findUncounted(snapshot: Db, orgNumber: number): Promise<RecordTotals> {
  const counted = (await listQuotas(snapshot, orgNumber)).get(orgNumber)?.held ?? { records: 0, bytes: 0 };
  const held = await countRecordTotals(snapshot, orgNumber);
  return { records: held.records - counted.records, bytes: held.bytes - counted.bytes };
}

/**
 * Sets the limits of an organization, and adds what was not counted yet; takes effect with the next write.
 * @returns false, without any change, if another count has begun since
 */
export async function saveQuota(
  trx: Trx,
  orgNumber: number,
  { records, bytes }: HeldQuota,
  { countId, uncounted }: { countId: string; uncounted: RecordTotals },
): Promise<boolean> {
  const isCounted = records !== null || bytes !== null;
  const update = trx
    .updateTable('org_clocks')
    .set((eb) => ({
      count_id: null,
      records: isCounted ? eb('records', '+', uncounted.records) : null,
      bytes: isCounted ? eb('bytes', '+', uncounted.bytes) : null,
      records_max: records,
      bytes_max: bytes,
    }))
    .where('org_id', '=', orgNumber)
    .where('count_id', '=', countId);
  const result = await changeOrganizationRow(trx, orgNumber, () => update.executeTakeFirstOrThrow());
  return result.numUpdatedRows > 0n;
}

/** Sets the limit of body bytes in flight; null for the default. Takes effect with the next request. */
export async function setBodyQuota(trx: Trx, orgNumber: number, bytes: number | null): Promise<void> {
  const set = { body_bytes_max: bytes };
  await trx.updateTable('organizations').set(set).where('number', '=', orgNumber).execute();
  await trx.updateTable('api_keys').set(set).where('org_id', '=', orgNumber).execute();
}

/** Sets the limit of stored responses in bytes; null for the default. Takes effect with the next request. */
export async function setReplayQuota(trx: Trx, orgNumber: number, bytes: number | null): Promise<void> {
  const update = trx
    .updateTable('org_clocks')
    .set({ answer_bytes_max: bytes })
    .where('org_id', '=', orgNumber);
  await changeOrganizationRow(trx, orgNumber, () => update.execute());
}
