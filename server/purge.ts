// Removes data whose retention period is over.
import { hostname } from 'node:os';
import type { Store } from '../db/store.ts';
import { pruneAudit } from '../db/tables/audit.ts';
import { purgeChanges } from '../db/tables/change-retention.ts';
import { purgeStoredResponses } from '../db/tables/idempotency.ts';
import { purgeDeliveries } from '../db/tables/webhook-deliveries.ts';

/**
 * Removes expired responses, counts, changes, deliveries of webhooks and entries of the audit log.
 * @param options how long entries of the audit log are kept, in milliseconds; forever by default
 */
export async function purge(store: Store, { auditKeepMs: keepMs }: { auditKeepMs?: number }): Promise<void> {
  const now = Date.now();
  await purgeStoredResponses(store, now);
  await store.counters.purge();
  await purgeChanges(store, now);
  await purgeDeliveries(store, now);
  if (keepMs !== undefined) await pruneAudit(store, { keepMs, host: hostname(), now });
}
