// What is still to be sent to a webhook: changes that wait, and replays that are running.

import { bulkInsert } from '../engine/bulk-insert.ts';
import type { Db, RecordKey, Trx } from '../engine/schema.ts';
import type { WebhookPassRow, WebhookWaitingRow } from '../engine/webhook-rows.ts';

/** Maximum number of changes that wait for a webhook, in all its passes. */
export const WAITING_CHANGES_MAX = 1_000;

/** Running replays of a webhook, oldest first. */
export function listPasses(db: Db, { orgNumber, id }: RecordKey): Promise<WebhookPassRow[]> {
  return db
    .selectFrom('webhook_passes')
    .selectAll()
    .where('org_id', '=', orgNumber)
    .where('webhook_id', '=', id)
    .orderBy('pass')
    .execute();
}

/**
 * Begins a replay, and returns its number.
 * @param range the place before the first change to send, and the last change to send
 */
export async function insertPass(
  trx: Trx,
  { orgNumber, id }: RecordKey,
  { place, last }: Pick<WebhookPassRow, 'place' | 'last'>,
): Promise<number> {
  const ofWebhook = { org_id: orgNumber, webhook_id: id };
  // Changes of a pass can still wait after its row is gone.
  let highest = 0;
  for (const table of ['webhook_passes', 'webhook_waiting'] as const) {
    const { pass } = await trx
      .selectFrom(table)
      .select((eb) => eb.fn.max('pass').as('pass'))
      .where('org_id', '=', orgNumber)
      .where('webhook_id', '=', id)
      .executeTakeFirstOrThrow();
    highest = Math.max(highest, pass ?? 0);
  }
  await trx
    .insertInto('webhook_passes')
    .values({ ...ofWebhook, pass: highest + 1, place, last })
    .execute();
  return highest + 1;
}

/** Notes how far a replay has come. */
export async function movePass(
  trx: Trx,
  { org_id, webhook_id, pass }: Pick<WebhookPassRow, 'org_id' | 'webhook_id' | 'pass'>,
  place: number,
): Promise<void> {
  await trx
    .updateTable('webhook_passes')
    .set({ place })
    .where((eb) => eb.and({ org_id, webhook_id, pass }))
    .execute();
}

/** Ends a replay; its changes that wait are still sent. */
export async function deletePass(
  trx: Trx,
  { org_id, webhook_id, pass }: Pick<WebhookPassRow, 'org_id' | 'webhook_id' | 'pass'>,
): Promise<void> {
  await trx
    .deleteFrom('webhook_passes')
    .where((eb) => eb.and({ org_id, webhook_id, pass }))
    .execute();
}

const insertRows = bulkInsert('webhook_waiting', [
  'org_id',
  'webhook_id',
  'pass',
  'sequence',
  'resource',
  'record',
  'attempt',
  'next_attempt_at',
]);

/** Adds changes that wait. */
export async function insertWaiting(trx: Trx, rows: readonly WebhookWaitingRow[]): Promise<void> {
  await insertRows(trx, rows as never);
}

/** The changes that wait for a webhook, pass by pass in order. */
export function listWaiting(db: Db, { orgNumber, id }: RecordKey): Promise<WebhookWaitingRow[]> {
  return db
    .selectFrom('webhook_waiting')
    .selectAll()
    .where('org_id', '=', orgNumber)
    .where('webhook_id', '=', id)
    .orderBy('pass')
    .orderBy('sequence')
    .execute();
}

/** Number of changes that wait for each webhook of an organization, by its ID. */
export async function countWaiting(db: Db, orgNumber: number): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('webhook_waiting')
    .select((eb) => ['webhook_id', eb.fn.countAll().as('total')])
    .where('org_id', '=', orgNumber)
    .groupBy('webhook_id')
    .execute();
  return new Map(rows.map(({ webhook_id, total }) => [webhook_id, Number(total)]));
}

/** Has what waits for another attempt tried at that instant (Unix milliseconds) at the latest. */
export async function retryWaitingAt(trx: Trx, { orgNumber, id }: RecordKey, at: number): Promise<void> {
  await trx
    .updateTable('webhook_waiting')
    .set({ next_attempt_at: at })
    .where('org_id', '=', orgNumber)
    .where('webhook_id', '=', id)
    .where('next_attempt_at', '>', at)
    .execute();
}

/** Drops what waits for a webhook with a lower sequence number. */
export async function deleteWaitingBefore(
  trx: Trx,
  { orgNumber, id }: RecordKey,
  sequence: number,
): Promise<void> {
  await trx
    .deleteFrom('webhook_waiting')
    .where('org_id', '=', orgNumber)
    .where('webhook_id', '=', id)
    .where('sequence', '<', sequence)
    .execute();
}

/** Drops all that waits for a webhook, and its replays. */
export async function clearQueue(trx: Trx, { orgNumber: org_id, id: webhook_id }: RecordKey): Promise<void> {
  for (const table of ['webhook_waiting', 'webhook_passes'] as const)
    await trx
      .deleteFrom(table)
      .where((eb) => eb.and({ org_id, webhook_id }))
      .execute();
}
