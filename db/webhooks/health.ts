// How webhooks are doing, over all organizations: for metrics and `crm doctor`.

import { sql } from 'kysely';
import type { Db } from '../engine/schema.ts';
import type { WebhookRow } from '../engine/webhook-rows.ts';

/** A webhook, and how far it is behind. */
export type WebhookHealth = Pick<WebhookRow, 'id' | 'is_enabled' | 'disabled_reason' | 'failing_since'> & {
  /** The public ID of its organization. */
  organization_id: string;
  /** Changes after its place, and those that wait for another attempt. */
  pending: number;
  /** When the oldest of those happened, in Unix milliseconds; null if there is none. */
  pending_since: number | null;
};

interface Place {
  org_id: number;
  place: number;
  last_change: number;
  waiting: number;
  first_waiting: number | null;
}

/** All webhooks, oldest first. One that is disabled has nothing pending here. */
export async function listWebhookHealth(db: Db): Promise<WebhookHealth[]> {
  const rows = await db
    .selectFrom('webhooks as webhook')
    .innerJoin('organizations as organization', 'organization.number', 'webhook.org_id')
    .innerJoin('org_clocks as clock', 'clock.org_id', 'webhook.org_id')
    .select(['webhook.id', 'webhook.is_enabled', 'webhook.disabled_reason', 'webhook.failing_since'])
    .select(['webhook.org_id', 'webhook.place', 'clock.last_change', 'organization.id as organization_id'])
    .select((eb) => {
      const waiting = eb
        .selectFrom('webhook_waiting as waiting')
        .whereRef('waiting.org_id', '=', 'webhook.org_id')
        .whereRef('waiting.webhook_id', '=', 'webhook.id');
      return [
        waiting.select(sql<number>`count(*)`.as('total')).as('waiting'),
        waiting.select('waiting.sequence').orderBy('waiting.sequence').limit(1).as('first_waiting'),
      ];
    })
    .orderBy('webhook.id')
    .execute();
  const found: WebhookHealth[] = [];
  for (const { org_id, place, last_change, waiting, first_waiting, ...row } of rows) {
    const of = { org_id, place, last_change, waiting: Number(waiting ?? 0), first_waiting };
    found.push({
      ...row,
      ...(row.is_enabled === 1 ? await pendingOf(db, of) : { pending: 0, pending_since: null }),
    });
  }
  return found;
}

async function pendingOf(
  db: Db,
  { org_id, place, last_change, waiting, first_waiting }: Place,
): Promise<Pick<WebhookHealth, 'pending' | 'pending_since'>> {
  const behind = Math.max(0, last_change - place);
  const pending = behind + waiting;
  if (pending === 0) return { pending, pending_since: null };
  // A row can contain several changes, and has the number of the last.
  const oldest = await db
    .selectFrom('changes')
    .select('at')
    .where('org_id', '=', org_id)
    .where('sequence', '>=', Math.min(first_waiting ?? place + 1, place + 1))
    .orderBy('sequence')
    .limit(1)
    .executeTakeFirst();
  return { pending, pending_since: oldest?.at ?? null };
}
