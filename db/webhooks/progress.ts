// How far the sending of webhooks has come: read when a server begins to send to one, and stored a few times a second.

import { sql } from 'kysely';
import type { RecordKey, Trx } from '../engine/schema.ts';
import { statement } from '../engine/statement.ts';
import type {
  WebhookDeliveryRow,
  WebhookPassRow,
  WebhookRow,
  WebhookWaitingRow,
} from '../engine/webhook-rows.ts';
import { recordAudit, serverActor } from '../tables/audit.ts';
import { insertDeliveries } from './deliveries.ts';
import { clearQueue, deletePass, insertWaiting, movePass } from './queue.ts';
import { type DisabledReason, disableWebhook } from './webhooks.ts';

/** What changed about the sending to a webhook. */
export interface WebhookProgress {
  row: Pick<WebhookRow, 'place' | 'epoch' | 'skipped_at' | 'failing_since' | 'last_success_at'>;
  /** Replays that came further; those whose place is `last` are over. */
  passes: readonly WebhookPassRow[];
  waiting: {
    inserted: readonly WebhookWaitingRow[];
    updated: readonly WebhookWaitingRow[];
    deleted: readonly Pick<WebhookWaitingRow, 'pass' | 'sequence'>[];
  };
  deliveries: readonly WebhookDeliveryRow[];
  /** Whether everything that waited is dropped, because the log was replaced. */
  isCleared: boolean;
  disabled: DisabledReason | null;
}

const moved = statement<{ id: string }>((db, param) =>
  db
    .updateTable('webhooks')
    .set({
      place: param('place'),
      epoch: param('epoch'),
      skipped_at: param('skipped_at'),
      failing_since: param('failing_since'),
      last_success_at: param('last_success_at'),
    })
    .where('org_id', '=', param('org'))
    .where('id', '=', param('id'))
    .where(sql<boolean>`coalesce(lease_holder, '') = ${param('holder')}`)
    .returning('id'),
);

const updatedWaiting = statement<never>((db, param) =>
  db
    .updateTable('webhook_waiting')
    .set({ attempt: param('attempt'), next_attempt_at: param('next') })
    .where('org_id', '=', param('org'))
    .where('webhook_id', '=', param('webhook'))
    .where('pass', '=', param('pass'))
    .where('sequence', '=', param('sequence')),
);

const deletedWaiting = statement<never>((db, param) =>
  db
    .deleteFrom('webhook_waiting')
    .where('org_id', '=', param('org'))
    .where('webhook_id', '=', param('webhook'))
    .where('pass', '=', param('pass'))
    .where('sequence', '=', param('sequence')),
);

/**
 * Stores progress, unless the webhook is gone or another server sends to it; returns whether it did.
 * @param by the server that sends: as in `lease_holder`, or '' if only one can; its host; and the time, in Unix milliseconds
 */
export async function saveProgress(
  trx: Trx,
  key: RecordKey,
  { holder, host, now }: { holder: string; host: string; now: number },
  { row, passes, waiting, deliveries, isCleared, disabled }: WebhookProgress,
): Promise<boolean> {
  const { orgNumber: org, id: webhook } = key;
  const [found] = await moved(trx, { ...row, org, id: webhook, holder });
  if (found === undefined) return false;
  if (isCleared) await clearQueue(trx, key);
  for (const { pass, sequence } of waiting.deleted)
    await deletedWaiting(trx, { org, webhook, pass, sequence });
  for (const { pass, sequence, attempt, next_attempt_at: next } of waiting.updated)
    await updatedWaiting(trx, { org, webhook, pass, sequence, attempt, next });
  await insertWaiting(trx, waiting.inserted);
  for (const pass of passes) {
    if (pass.place >= pass.last) await deletePass(trx, pass);
    else await movePass(trx, pass, pass.place);
  }
  await insertDeliveries(trx, deliveries);
  if (disabled !== null && (await disableWebhook(trx, key, disabled, now)))
    await recordAudit(trx, {
      ...{ orgNumber: org, actor: serverActor(host), action: 'webhook.disabled' },
      ...{ target: { type: 'webhooks', id: webhook }, details: { reason: disabled }, now },
    });
  return true;
}
