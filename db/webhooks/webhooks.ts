// Webhooks: where changes are sent, and how far that has come.

import type { ApiKeyRow, Db, RecordKey, Trx } from '../engine/schema.ts';
import { statement } from '../engine/statement.ts';
import type { WebhookRow } from '../engine/webhook-rows.ts';
import { clearQueue } from './queue.ts';

/** Maximum number of webhooks of an organization. */
export const WEBHOOKS_MAX = 20;

/** Why a webhook is disabled, if no client asked for it. */
export const DISABLED_REASONS = ['key_revoked', 'key_expired', 'gone', 'failing'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** Webhooks of an organization, or only those of a user, oldest first. */
export function listWebhooks(
  db: Db,
  { orgNumber, userId }: { orgNumber: number; userId: string | null },
): Promise<WebhookRow[]> {
  let query = db.selectFrom('webhooks').selectAll().where('org_id', '=', orgNumber).orderBy('id');
  if (userId !== null) query = query.where('user_id', '=', userId);
  return query.execute();
}

/** The webhooks of all organizations, oldest first. */
export function listAllWebhooks(db: Db): Promise<WebhookRow[]> {
  return db.selectFrom('webhooks').selectAll().orderBy('id').execute();
}

const byId = statement<WebhookRow>((db, param) =>
  db.selectFrom('webhooks').selectAll().where('org_id', '=', param('org')).where('id', '=', param('id')),
);

/** The webhook with that ID in the organization. */
export async function findWebhook(db: Db, { orgNumber, id }: RecordKey): Promise<WebhookRow | undefined> {
  const [row] = await byId(db, { org: orgNumber, id });
  return row;
}

/** Number of webhooks of an organization. */
export async function countWebhooks(db: Db, orgNumber: number): Promise<number> {
  const { total } = await db
    .selectFrom('webhooks')
    .select((eb) => eb.fn.countAll().as('total'))
    .where('org_id', '=', orgNumber)
    .executeTakeFirstOrThrow();
  return Number(total);
}

/** Adds a webhook. */
export async function insertWebhook(trx: Trx, row: WebhookRow): Promise<void> {
  await trx.insertInto('webhooks').values(row).execute();
}

/** Sets columns of a webhook. */
export async function updateWebhook(
  trx: Trx,
  { orgNumber, id }: RecordKey,
  columns: Partial<Omit<WebhookRow, 'org_id' | 'id'>>,
): Promise<void> {
  await trx
    .updateTable('webhooks')
    .set(columns)
    .where('org_id', '=', orgNumber)
    .where('id', '=', id)
    .execute();
}

/** Deletes a webhook and what waits for it; its deliveries, which can be many, are left to `purgeDeliveries`. */
export async function deleteWebhook(trx: Trx, key: RecordKey): Promise<void> {
  const { orgNumber, id } = key;
  await clearQueue(trx, key);
  await trx.deleteFrom('webhooks').where('org_id', '=', orgNumber).where('id', '=', id).execute();
}

/**
 * Disables a webhook that is enabled, and returns whether it was. Its place stays, and what waits for it.
 * @param now Unix milliseconds
 */
export async function disableWebhook(
  trx: Trx,
  { orgNumber, id }: RecordKey,
  reason: DisabledReason,
  now: number,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('webhooks')
    .set({ is_enabled: 0, disabled_reason: reason, updated_at: now })
    .where('org_id', '=', orgNumber)
    .where('id', '=', id)
    .where('is_enabled', '=', 1)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** The enabled webhooks that a key made. */
export function listEnabledWebhooksOf(
  db: Db,
  { org_id, number }: Pick<ApiKeyRow, 'org_id' | 'number'>,
): Promise<WebhookRow[]> {
  return db
    .selectFrom('webhooks')
    .selectAll()
    .where('org_id', '=', org_id)
    .where('key_number', '=', number)
    .where('is_enabled', '=', 1)
    .orderBy('id')
    .execute();
}
