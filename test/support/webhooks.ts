// Sends the webhooks of a test's database to receivers on this machine, by a clock that can be moved.

import { findLogState } from '../../db/changes/log-state.ts';
import type { WebhookRow } from '../../db/engine/webhook-rows.ts';
import { parseNetwork } from '../../db/networks.ts';
import { recordId } from '../../db/tables/record-id.ts';
import { getWebhookKey } from '../../db/tables/settings.ts';
import { insertDeliveries, listDeliveries } from '../../db/webhooks/deliveries.ts';
import { countWaiting } from '../../db/webhooks/queue.ts';
import { findWebhook, insertWebhook } from '../../db/webhooks/webhooks.ts';
import { sealWebhookSecret } from '../../server/signing/webhook-secrets.ts';
import { addressJudge } from '../../server/webhooks/addresses.ts';
import type { DeliveryParts } from '../../server/webhooks/courier.ts';
import { WebhookDispatcher } from '../../server/webhooks/dispatcher.ts';
import { FairSlots } from '../../server/webhooks/fair-slots.ts';
import { WebhookSender } from '../../server/webhooks/sender.ts';
import { newWebhookSecret } from '../../server/webhooks/signature.ts';
import { WebhookScanner } from '../../server/webhooks/webhook-scanner.ts';
import { WebhookStats } from '../../server/webhooks/webhook-stats.ts';
import type { Harness } from './harness.ts';

export interface Sending {
  dispatcher: WebhookDispatcher;
  stats: WebhookStats;
  /** Webhooks that were disabled, with the reasons. */
  disabled: string[];
  /** Moves the clocks on. */
  skip(ms: number): void;
  /** Moves the clocks on, and has the server look for what is due. */
  forward(ms: number): Promise<void>;
  stop(graceMs?: number): Promise<void>;
}

// Its receivers are in this process, and a busy machine can keep all of it from running for seconds.
const TIMEOUT_MS = 60_000;

export interface SendingOptions {
  store?: DeliveryParts['store'];
  holder?: string;
  scan?: WebhookScanner['scan'];
  /** How long an answer may take, in milliseconds. */
  timeoutMs?: number;
  slots?: FairSlots;
}

/** Begins to send the webhooks of a harness. */
export async function startSending(harness: Harness, options: SendingOptions = {}): Promise<Sending> {
  const { store = harness.store, holder = '', timeoutMs = TIMEOUT_MS, slots = new FairSlots() } = options;
  const scanner = new WebhookScanner(store, await getWebhookKey(store.read));
  if (options.scan !== undefined) scanner.scan = options.scan;
  const allowed = [parseNetwork('127.0.0.0/8')].flatMap((network) => network ?? []);
  const sender = new WebhookSender({ judge: addressJudge(allowed), timeoutMs });
  const stats = new WebhookStats();
  const disabled: string[] = [];
  let aheadMs = 0;
  const dispatcher = new WebhookDispatcher({
    ...{ store, scanner, sender, slots, stats, holder },
    now: () => Date.now() + aheadMs,
    uptime: () => performance.now() + aheadMs,
    onDisabled: ({ id }, reason) => disabled.push(`${id} ${reason}`),
  });
  return {
    dispatcher,
    stats,
    disabled,
    skip: (ms) => {
      aheadMs += ms;
    },
    forward: async (ms) => {
      aheadMs += ms;
      await dispatcher.look();
    },
    stop: (graceMs = 0) => dispatcher.stop(graceMs),
  };
}

export interface AddedWebhook {
  id: string;
  secret: string;
  row(): Promise<WebhookRow>;
  waiting(): Promise<number>;
  deliveries(): ReturnType<typeof listDeliveries>;
}

/** Adds a webhook that sees what the second key of the harness sees, from now on. */
export async function addWebhook(
  { store, orgNumber }: Harness,
  url: string,
  given: Partial<WebhookRow> = {},
): Promise<AddedWebhook> {
  const now = Date.now();
  const id = recordId(now);
  const secret = newWebhookSecret();
  const log = await findLogState(store.read, orgNumber);
  const sealed = sealWebhookSecret(await getWebhookKey(store.read), secret, id);
  const row: WebhookRow = {
    ...{ org_id: orgNumber, id, url, events: '["*"]', description: null },
    ...{ is_enabled: 1, disabled_reason: null, key_number: 2, user_id: null },
    ...{ secret: sealed, previous_secret: null, previous_secret_until: null },
    ...{ place: log.last, epoch: log.epoch, skipped_at: null, failing_since: null, last_success_at: null },
    ...{ lease_holder: null, lease_until: null, created_at: now, updated_at: now },
    ...given,
  };
  await store.write(orgNumber, (trx) => insertWebhook(trx, row));
  const key = { orgNumber, id };
  return {
    id,
    secret,
    row: async () => {
      const found = await findWebhook(store.read, key);
      if (found === undefined) throw new Error('the webhook is gone');
      return found;
    },
    waiting: async () => (await countWaiting(store.read, orgNumber)).get(id) ?? 0,
    // As a plain array, which PostgreSQL's rows are not.
    deliveries: async () => [...(await listDeliveries(store.read, key, { before: null, limit: 5_000 }))],
  };
}

/** Asks for a ping of a webhook; returns when, in Unix milliseconds. */
export async function addPing(
  { store, orgNumber }: Harness,
  { id: webhook_id }: AddedWebhook,
): Promise<number> {
  const at = Date.now();
  const ping = {
    ...{ org_id: orgNumber, webhook_id, id: recordId(at), sequence: null, type: 'ping', attempt: 1 },
    ...{ at, ms: null, status: null, outcome: 'pending', next_attempt_at: at },
  };
  await store.write(orgNumber, (trx) => insertDeliveries(trx, [ping]));
  return at;
}
