// Attempts to deliver changes to webhooks, without what was sent, kept for 30 days.

import { bulkInsert } from '../engine/bulk-insert.ts';
import type { Db, RecordKey, Trx } from '../engine/schema.ts';
import type { WebhookDeliveryRow } from '../engine/webhook-rows.ts';
import type { Store } from '../store.ts';
import { smallestId } from '../tables/record-id.ts';

/** The type of a ping. */
export const PING = 'ping';

/**
 * What came of an attempt: `pending` was not made yet; `failed` got a status that is not 2xx; `unreachable` got no
 * connection or no address; `tls` no valid certificate; `blocked` is an address that is not public.
 */
export const DELIVERY_OUTCOMES = [
  'pending',
  'delivered',
  'failed',
  'timeout',
  'unreachable',
  'tls',
  'blocked',
  'redirect',
  'gone',
] as const;
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number];

const KEPT_MS = 30 * 24 * 60 * 60 * 1_000;
const PURGED_ROWS_MAX = 1_000;

const insertRows = bulkInsert('webhook_deliveries', [
  'org_id',
  'webhook_id',
  'id',
  'sequence',
  'type',
  'attempt',
  'at',
  'ms',
  'status',
  'outcome',
  'next_attempt_at',
]);

/** Adds deliveries; their IDs are `recordId(at)`. */
export async function insertDeliveries(trx: Trx, rows: readonly WebhookDeliveryRow[]): Promise<void> {
  await insertRows(trx, rows as never);
}

/** What came of a ping. */
export type PingResult = Pick<WebhookDeliveryRow, 'at' | 'ms' | 'status'> & { outcome: DeliveryOutcome };

/** Notes what came of a ping. */
export async function finishPing(
  trx: Trx,
  { org_id, webhook_id, id }: Pick<WebhookDeliveryRow, 'org_id' | 'webhook_id' | 'id'>,
  result: PingResult,
): Promise<void> {
  await trx
    .updateTable('webhook_deliveries')
    .set({ ...result, next_attempt_at: null })
    .where('org_id', '=', org_id)
    .where('webhook_id', '=', webhook_id)
    .where('id', '=', id)
    .execute();
}

/** Deliveries of a webhook, newest first; those before one with that ID, if it is not null. */
export function listDeliveries(
  db: Db,
  { orgNumber, id }: RecordKey,
  { before, limit }: { before: string | null; limit: number },
): Promise<WebhookDeliveryRow[]> {
  let query = db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('org_id', '=', orgNumber)
    .where('webhook_id', '=', id)
    .orderBy('id', 'desc')
    .limit(limit);
  if (before !== null) query = query.where('id', '<', before);
  return query.execute();
}

/**
 * Removes the deliveries that are older than 30 days, and those of webhooks that are gone: a few at a time and under the lock
 * of their organization, so that no write waits long. Returns their number.
 * @param now Unix milliseconds
 */
export async function purgeDeliveries(store: Pick<Store, 'read' | 'write'>, now: number): Promise<number> {
  let total = 0;
  for (let next = await nextWebhook(store.read); next !== undefined; ) {
    const { org_id: orgNumber, webhook_id, isGone } = next;
    const end = isGone ? null : smallestId(now - KEPT_MS);
    const key = { orgNumber, id: webhook_id };
    while (await hasOld(store.read, key, end)) {
      total += await store.write(orgNumber, (trx) => removeOldest(trx, key, end));
    }
    next = await nextWebhook(store.read, next);
  }
  return total;
}

interface DeliveredWebhook {
  org_id: number;
  webhook_id: string;
  isGone: boolean;
}

// The next webhook that has deliveries, found by the key alone, however many they are.
async function nextWebhook(db: Db, after?: DeliveredWebhook): Promise<DeliveredWebhook | undefined> {
  let query = db
    .selectFrom('webhook_deliveries as delivery')
    .leftJoin('webhooks as webhook', (join) =>
      join.onRef('webhook.org_id', '=', 'delivery.org_id').onRef('webhook.id', '=', 'delivery.webhook_id'),
    )
    .select(['delivery.org_id', 'delivery.webhook_id', 'webhook.id as existing'])
    .orderBy('delivery.org_id')
    .orderBy('delivery.webhook_id')
    .limit(1);
  if (after !== undefined)
    query = query.where((eb) =>
      eb(
        eb.refTuple('delivery.org_id', 'delivery.webhook_id'),
        '>',
        eb.tuple(after.org_id, after.webhook_id),
      ),
    );
  const row = await query.executeTakeFirst();
  return row && { org_id: row.org_id, webhook_id: row.webhook_id, isGone: row.existing === null };
}

function oldest(db: Db, { orgNumber, id }: RecordKey, end: string | null) {
  let query = db
    .selectFrom('webhook_deliveries')
    .select('id')
    .where('org_id', '=', orgNumber)
    .where('webhook_id', '=', id)
    .orderBy('id');
  if (end !== null) query = query.where('id', '<', end);
  return query;
}

async function hasOld(db: Db, key: RecordKey, end: string | null): Promise<boolean> {
  return (await oldest(db, key, end).limit(1).executeTakeFirst()) !== undefined;
}

async function removeOldest(trx: Trx, key: RecordKey, end: string | null): Promise<number> {
  const rows = await oldest(trx, key, end).limit(PURGED_ROWS_MAX).execute();
  const last = rows.at(-1)?.id;
  if (last === undefined) return 0;
  await trx
    .deleteFrom('webhook_deliveries')
    .where('org_id', '=', key.orgNumber)
    .where('webhook_id', '=', key.id)
    .where('id', '<=', last)
    .execute();
  return rows.length;
}
