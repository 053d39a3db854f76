// Begins the sending of webhooks for a server.
import { isDatabaseAddress } from '../../db/database-address.ts';
import type { Network } from '../../db/networks.ts';
import type { Store } from '../../db/store.ts';
import { getWebhookKey } from '../../db/tables/settings.ts';
import type { DisabledReason } from '../../db/webhooks/webhooks.ts';
import { addressJudge } from './addresses.ts';
import { WebhookDispatcher } from './dispatcher.ts';
import { FairSlots } from './fair-slots.ts';
import { WebhookSender } from './sender.ts';
import { WebhookScanner } from './webhook-scanner.ts';
import type { WebhookStats } from './webhook-stats.ts';

export interface ServeWebhooksOptions {
  store: Store;
  /** The database, as `serve` opens it. */
  db: string;
  /** Where webhooks can be sent besides public addresses. */
  networks: readonly Network[];
  stats: WebhookStats;
  /** Writes a line for the operator. */
  tell: (line: string) => void;
}

const REASONS: Readonly<Record<DisabledReason, string>> = {
  gone: 'its receiver answered 410',
  failing: 'no delivery succeeded for five days',
  key_revoked: 'its key was revoked',
  key_expired: 'its key has expired',
};

/** Sends the webhooks of a database until it is stopped. */
export async function serveWebhooks(options: ServeWebhooksOptions): Promise<WebhookDispatcher> {
  const { store, db, networks, stats, tell } = options;
  return new WebhookDispatcher({
    store,
    scanner: new WebhookScanner(store, await getWebhookKey(store.read)),
    sender: new WebhookSender({ judge: addressJudge(networks) }),
    slots: new FairSlots(),
    stats,
    now: Date.now,
    uptime: () => performance.now(),
    // One process serves a file; of a database server, any number of nodes.
    holder: isDatabaseAddress(db) ? crypto.randomUUID() : '',
    // Without the URL, whose path or query can be a secret.
    onDisabled: ({ id }, reason) => tell(`Webhook ${id} was disabled: ${REASONS[reason]}.`),
  });
}
