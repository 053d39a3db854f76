// Sends the messages of one webhook: waits for a place among all requests, signs, and says what came of it.
import type { WebhookDeliveryRow, WebhookRow } from '../../db/engine/webhook-rows.ts';
import type { Store } from '../../db/store.ts';
import type { DisabledReason } from '../../db/webhooks/webhooks.ts';
import type { FairSlots } from './fair-slots.ts';
import type { WebhookMessage } from './message.ts';
import type { WebhookAttempt, WebhookSender } from './sender.ts';
import { signatureHeaders } from './signature.ts';
import type { WebhookScanner } from './webhook-scanner.ts';
import type { WebhookStats } from './webhook-stats.ts';

export interface CourierParts {
  scanner: WebhookScanner;
  sender: WebhookSender;
  slots: FairSlots;
  stats: WebhookStats;
  /** Unix milliseconds. */
  now: () => number;
}

/** What the sending of webhooks needs. */
export interface DeliveryParts extends CourierParts {
  store: Pick<Store, 'read' | 'write' | 'signals'>;
  /** This server, as in `lease_holder`; '' if no other can serve the database. */
  holder: string;
  /** Milliseconds of a clock that is never set, for leases. */
  uptime: () => number;
  /** Called when the webhook was disabled. */
  onDisabled: (row: WebhookRow, reason: DisabledReason) => void;
}

/** A request that was answered, or failed. */
export type SentMessage = WebhookAttempt & Pick<WebhookDeliveryRow, 'type' | 'at'>;

/**
 * Sends a message once there is a place; null if there was none to send any more, or it was given up at `stop`.
 * @param prepare makes the message when it can be sent
 */
export async function sendMessage(
  { scanner, sender, slots, stats, now }: CourierParts,
  row: () => WebhookRow,
  prepare: () => Promise<WebhookMessage | null>,
  stop: AbortSignal,
): Promise<SentMessage | null> {
  const giveBack = await slots.take(row().org_id);
  stats.underWay += 1;
  try {
    const message = stop.aborted ? null : await prepare();
    if (message === null) return null;
    const current = row();
    const at = now();
    const signed = { id: message.id, timestamp: Math.floor(at / 1_000), body: message.body };
    const headers = signatureHeaders(signed, scanner.secrets(current, at));
    const attempt = await sender.send({ url: current.url, headers, body: message.body }, stop);
    if (attempt === null) return null;
    stats.attempted(attempt.outcome);
    return { ...attempt, type: message.type, at };
  } finally {
    stats.underWay -= 1;
    giveBack();
  }
}
