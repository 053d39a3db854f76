// Which webhooks there is something to do for, and which server does it: one at a time, by a lease that a crash lets go.

import { sql } from 'kysely';
import type { Db, Trx } from '../engine/schema.ts';
import { statement } from '../engine/statement.ts';
import type { WebhookDeliveryRow, WebhookPassRow, WebhookRow } from '../engine/webhook-rows.ts';

const enabled = statement<WebhookToSend>((db) =>
  db
    .selectFrom('webhooks as webhook')
    .selectAll('webhook')
    .select(
      sql<number>`case when lease_holder is not null and lease_until >= ${db.engine.now()} then 1 else 0 end`.as(
        'is_leased',
      ),
    )
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
  // The outcome is a constant because the index has only these.
  db.selectFrom('webhook_deliveries').selectAll().where('outcome', '=', sql.lit('pending')).orderBy('id'),
);

/** Pings that wait to be sent, oldest first. */
export async function listPendingPings(db: Db): Promise<WebhookDeliveryRow[]> {
  return pings(db, {});
}

/** A webhook, and whether a server has a lease for it (0 or 1). */
export type WebhookToSend = WebhookRow & { is_leased: number };

/** What servers have to do, over all organizations. */
export interface WebhookWork {
  /** Webhooks that are enabled, or have pings. */
  webhooks: WebhookToSend[];
  /** Replays that are under way. */
  passes: WebhookPassRow[];
  /** As `listPendingPings` has them. */
  pings: WebhookDeliveryRow[];
}

/** What there is to do now. */
export async function findWebhookWork(db: Db): Promise<WebhookWork> {
  const webhooks = await enabled(db, {});
  if (webhooks.length === 0) return { webhooks, passes: [], pings: [] };
  return { webhooks, passes: await passes(db, {}), pings: await listPendingPings(db) };
}

/** Who has a lease, and for how long from now. */
export interface Lease {
  /** The server. */
  holder: string;
  /** By the clock of the database, so that the clocks of servers do not matter. */
  ms: number;
}

function leasing(takesFree: boolean) {
  return statement<{ id: string }>((db, param) =>
    db
      .updateTable('webhooks')
      .set({
        lease_holder: param('holder'),
        lease_until: sql<number>`${db.engine.now()} + ${param('ms')}`,
      })
      .where('org_id', '=', param('org'))
      .where('id', '=', param('id'))
      .where((eb) =>
        eb.or([
          eb('lease_holder', '=', param('holder')),
          ...(takesFree ? [eb('lease_holder', 'is', null), eb('lease_until', '<', db.engine.now())] : []),
        ]),
      )
      .returning('id'),
  );
}

const taken = leasing(true);
const renewed = leasing(false);

type LeasedRow = Pick<WebhookRow, 'org_id' | 'id'>;

/** Takes a lease; false if another server has it, or the webhook is gone. */
export async function takeLease(trx: Trx, { org_id: org, id }: LeasedRow, lease: Lease): Promise<boolean> {
  return (await taken(trx, { org, id, ...lease })).length > 0;
}

/** Renews a lease, also one that has ended; false if another server has had it since, or the webhook is gone. */
export async function renewLease(trx: Trx, { org_id: org, id }: LeasedRow, lease: Lease): Promise<boolean> {
  return (await renewed(trx, { org, id, ...lease })).length > 0;
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
export async function releaseLease(trx: Trx, { org_id: org, id }: LeasedRow, holder: string): Promise<void> {
  await released(trx, { org, id, holder });
}
