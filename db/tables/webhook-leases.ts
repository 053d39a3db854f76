// Which webhooks there is something to do for, and which server does it: one at a time, by a lease that a crash lets go.

import { sql } from 'kysely';
import type { Db, Trx } from '../engine/schema.ts';
import { statement } from '../engine/statement.ts';
import type { WebhookDeliveryRow, WebhookPassRow, WebhookRow } from '../engine/webhook-rows.ts';

const enabled = statement<WebhookRow>((db) =>
  db
    .selectFrom('webhooks as webhook')
    .selectAll('webhook')
    .where((eb) =>
      eb.or([
        eb('webhook.is_enabled', '=', sql.lit(1)),
        eb.exists(
          eb
            .selectFrom('webhook_deliveries as ping')
            .select('ping.id')
            .whereRef('ping.org_id', '=', 'webhook.org_id')
            .whereRef('ping.webhook_id', '=', 'webhook.id')
            .where('ping.outcome', '=', sql.lit('pending')),
        ),
      ]),
    ),
);
const passes = statement<WebhookPassRow>((db) => db.selectFrom('webhook_passes').selectAll());
const pings = statement<WebhookDeliveryRow>((db) =>
  db.selectFrom('webhook_deliveries').selectAll().where('outcome', '=', sql.lit('pending')).orderBy('id'),
);

/** What servers have to do, over all organizations. */
export interface WebhookWork {
  /** Webhooks that are enabled, or have pings. */
  webhooks: WebhookRow[];
  /** Replays that are under way. */
  passes: WebhookPassRow[];
  /** Pings that wait to be sent, oldest first. */
  pings: WebhookDeliveryRow[];
}

/** What there is to do now. */
export async function findWebhookWork(db: Db): Promise<WebhookWork> {
  const webhooks = await enabled(db, {});
  if (webhooks.length === 0) return { webhooks, passes: [], pings: [] };
  return { webhooks, passes: await passes(db, {}), pings: await pings(db, {}) };
}

const leased = statement<{ id: string }>((db, param) =>
  db
    .updateTable('webhooks')
    .set({ lease_holder: param('holder'), lease_until: param('until') })
    .where('org_id', '=', param('org'))
    .where('id', '=', param('id'))
    .where((eb) =>
      eb.or([
        eb('lease_holder', 'is', null),
        eb('lease_holder', '=', param('holder')),
        eb('lease_until', '<', param('now')),
      ]),
    )
    .returning('id'),
);

/** Takes or renews a lease; false if another server has it, or the webhook is gone. Times are in Unix milliseconds. */
export async function takeLease(
  trx: Trx,
  { org_id: org, id }: Pick<WebhookRow, 'org_id' | 'id'>,
  { holder, now, until }: { holder: string; now: number; until: number },
): Promise<boolean> {
  return (await leased(trx, { org, id, holder, now, until })).length > 0;
}

const released = statement<never>((db, param) =>
  db
    .updateTable('webhooks')
    .set({ lease_holder: null, lease_until: null })
    .where('org_id', '=', param('org'))
    .where('id', '=', param('id'))
    .where('lease_holder', '=', param('holder')),
);

/** Gives a lease back. */
export async function releaseLease(
  trx: Trx,
  { org_id: org, id }: Pick<WebhookRow, 'org_id' | 'id'>,
  holder: string,
): Promise<void> {
  await released(trx, { org, id, holder });
}
