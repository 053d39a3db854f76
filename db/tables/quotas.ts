// The quotas of organizations: set by the operator, who is told how far they are used up.

import type { Holdings } from '../engine/engine.ts';
import { changeRow } from '../engine/organization-state.ts';
import type { Db } from '../engine/schema.ts';
import { ANSWER_BYTES_MAX, answerBytes } from '../engine/stored-response-bytes.ts';
import { countHoldings } from './content-bytes.ts';

/** What an organization may hold at most; null for without a limit. */
export interface HeldQuota {
  records: number | null;
  bytes: number | null;
}

/** What an organization may have at most; null for without a limit, or with that of any other. */
export interface Quota extends HeldQuota {
  /** Of request bodies under way, in each process that serves. */
  bytesInFlight: number | null;
  /** Of stored answers; null for as many as any other. */
  replayBytes: number | null;
}

export interface QuotaUse {
  orgId: number;
  quota: Quota;
  /** Null while it is not counted, as where there is no quota of records or bytes. */
  held: Holdings | null;
  /** Bytes that stored answers take, and may take. */
  replayBytes: number;
  replayBytesMax: number;
}

/** The quotas of all organizations by their numbers, or of one, with how far each is used up. */
export async function listQuotas(db: Db, orgId?: number, now = Date.now()): Promise<Map<number, QuotaUse>> {
  let query = db
    .selectFrom('organizations as organization')
    .leftJoin('org_clocks as clock', 'clock.org_id', 'organization.number')
    .select(['organization.number', 'organization.body_bytes_max', 'clock.answer_bytes_max'])
    .select(['clock.records', 'clock.bytes', 'clock.records_max', 'clock.bytes_max', 'clock.answer_bytes']);
  if (orgId !== undefined) query = query.where('organization.number', '=', orgId);
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
      const replayBytes = answerBytes(row.answer_bytes, now);
      const replayBytesMax = quota.replayBytes ?? ANSWER_BYTES_MAX;
      return [number, { orgId: number, quota, held, replayBytes, replayBytesMax }];
    }),
  );
}

/** What the stored answers of all organizations take, and what part of its limit the fullest of them has used up. */
export async function sumReplayBytes(db: Db, now: number): Promise<{ bytes: number; usedMost: number }> {
  const rows = await db
    .selectFrom('org_clocks')
    .select(['answer_bytes', 'answer_bytes_max'])
    .where('answer_bytes', 'is not', null)
    .execute();
  const sums = { bytes: 0, usedMost: 0 };
  for (const { answer_bytes, answer_bytes_max } of rows) {
    const bytes = answerBytes(answer_bytes, now);
    sums.bytes += bytes;
    sums.usedMost = Math.max(sums.usedMost, bytes / Math.max(1, answer_bytes_max ?? ANSWER_BYTES_MAX));
  }
  return sums;
}

/**
 * Has every write of the organization counted from now on. What it held before is counted then, in a snapshot begun after
 * that, and `saveQuota` adds it: so nobody waits for the count.
 * @returns what tells this count from any other
 */
export async function beginCount(trx: Db, orgId: number): Promise<string> {
  const count_id = crypto.randomUUID();
  const update = trx
    .updateTable('org_clocks')
    .set((eb) => ({
      count_id,
      records: eb.fn.coalesce('records', eb.lit(0)),
      bytes: eb.fn.coalesce('bytes', eb.lit(0)),
    }))
    .where('org_id', '=', orgId);
  await changeRow(trx, orgId, () => update.execute());
  return count_id;
}

/** By how much what the organization holds is more than what was counted of it, at one moment. */
export async function findUncounted(snapshot: Db, orgId: number): Promise<Holdings> {
  const counted = (await listQuotas(snapshot, orgId)).get(orgId)?.held ?? { records: 0, bytes: 0 };
  const held = await countHoldings(snapshot, orgId);
  return { records: held.records - counted.records, bytes: held.bytes - counted.bytes };
}

/**
 * Sets what an organization may hold, and adds what was not counted yet; holds from the next write on.
 * @returns false, having done nothing, where another count has begun since
 */
export async function saveQuota(
  trx: Db,
  orgId: number,
  { records, bytes }: HeldQuota,
  { countId, uncounted }: { countId: string; uncounted: Holdings },
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
    .where('org_id', '=', orgId)
    .where('count_id', '=', countId);
  const result = await changeRow(trx, orgId, () => update.executeTakeFirstOrThrow());
  return result.numUpdatedRows > 0n;
}

/** Sets how many bytes of bodies an organization may have under way; null for as many as any other. Holds from the next request. */
export async function setBodyQuota(trx: Db, orgId: number, bytes: number | null): Promise<void> {
  const set = { body_bytes_max: bytes };
  await trx.updateTable('organizations').set(set).where('number', '=', orgId).execute();
  await trx.updateTable('api_keys').set(set).where('org_id', '=', orgId).execute();
}

/** Sets how many bytes stored answers may take; null for as many as any other's. Holds from the next request. */
export async function setReplayQuota(trx: Db, orgId: number, bytes: number | null): Promise<void> {
  const update = trx.updateTable('org_clocks').set({ answer_bytes_max: bytes }).where('org_id', '=', orgId);
  await changeRow(trx, orgId, () => update.execute());
}
