// Removes data whose retention period is over.
import { hostname } from 'node:os';
import { purgeChanges } from '../db/removal/change-retention.ts';
import type { Store } from '../db/store.ts';
import { pruneAudit } from '../db/tables/audit.ts';
import { purgeStoredResponses } from '../db/tables/idempotency.ts';
import { purgeDeliveries } from '../db/webhooks/deliveries.ts';
import type { ReportError } from './repeated-work.ts';

const PURGE_EVERY_MS = 10 * 60_000;

export interface PurgeOptions {
  /** How long entries of the audit log are kept, in milliseconds; forever by default. */
  auditKeepMs?: number;
}

/** Purges now and then until it is stopped, which does not wait for what is under way. */
export function startPurging(
  store: Store,
  options: PurgeOptions,
  report: ReportError,
): { stop(): Promise<void> } {
  const timer = setInterval(() => {
    store.alone(() => purge(store, options, report)).catch(report);
  }, PURGE_EVERY_MS);
  return { stop: async () => clearInterval(timer) };
}

/**
 * Removes expired responses, counts, changes, deliveries of webhooks and entries of the audit log, each also after another
 * failed.
 */
export async function purge(
  store: Store,
  { auditKeepMs: keepMs }: PurgeOptions,
  report: ReportError,
): Promise<void> {
  const now = Date.now();
  const all = [
    () => purgeStoredResponses(store, now),
    async () => store.counters.purge(),
    () => purgeChanges(store, now),
    () => purgeDeliveries(store, now),
    async () => keepMs !== undefined && pruneAudit(store, { keepMs, host: hostname(), now }),
  ];
  for (const one of all) await one().catch(report);
}
