// Metrics of the whole service: store, writes, backups and readiness.

import { sumReplayBytes } from '../../db/accounts/quotas.ts';
import type { StoreStats } from '../../db/engine/store-stats.ts';
import { FILLERS } from '../../db/fillers.ts';
import { countChanges } from '../../db/removal/change-retention.ts';
import { countPending } from '../../db/search/pending.ts';
import type { Store } from '../../db/store.ts';
import { type BackfillProgress, sumBackfills } from '../../db/tables/backfills.ts';
import { findLastBackup } from '../../db/tables/last-backup.ts';
import { listWebhookHealth, type WebhookHealth } from '../../db/webhooks/health.ts';
import type { Answer, Operation } from '../operation.ts';
import type { WriteObserver } from '../pipeline/observer.ts';
import type { WebhookStats } from '../webhooks/webhook-stats.ts';
import type { LoopDelay } from './loop-delay.ts';
import { type Metric, MetricValues } from './metric-values.ts';

/** Results of scheduled backups. */
export interface BackupStats {
  intervalMs: number;
  succeeded: number;
  failed: number;
  /** Of the last backup; null before the first. */
  lastMs: number | null;
  lastBytes: number | null;
}

/** Where the metrics of the whole service come from. */
export interface ServiceSources {
  version: string;
  commit: string;
  readers: number;
  store: Store;
  batches: BatchStats;
  webhooks: WebhookStats;
  /** Whether the server sends clients elsewhere because it is about to stop. */
  isDraining: boolean;
  /** Of the writing thread; null if it answers requests and reports the delay with them. */
  delay: LoopDelay | null;
  /** Null if there is no schedule. */
  backups: BackupStats | null;
}

/** Counts the batch items that were carried out, by their status, and those that failed. */
export class BatchStats implements WriteObserver {
  readonly #items = new Map<string, Map<string, number>>();

  wrote(operation: Operation, answer: Answer): void {
    if (answer.status === 204 || answer.object !== 'batch') return;
    const counts = this.#items.getOrInsert(operation.path, new Map([['failed', 0]]));
    for (const { status } of answer.data.items) {
      const result = status === 'error' ? 'failed' : status;
      counts.set(result, (counts.get(result) ?? 0) + 1);
    }
  }

  put(metrics: MetricValues): void {
    for (const [route, counts] of this.#items)
      for (const [result, count] of counts) metrics.put('crm_batch_items_total', count, { route, result });
  }
}

/** The metrics of the whole service at this moment. */
export async function serviceMetrics(sources: ServiceSources): Promise<Metric[]> {
  const { version, commit, readers, store, batches, webhooks, isDraining, delay, backups } = sources;
  const isStoreReady = store.ready().then(
    () => true,
    () => false,
  );
  const [stats, isReady] = await Promise.all([store.stats(), isStoreReady]);
  // Left out if the database cannot be read right now.
  const answers = await sumReplayBytes(store.read, Date.now()).catch(() => null);
  const changes = await countChanges(store.read).catch(() => null);
  const searchPending = await countPending(store.read).catch(() => null);
  const backfills = await sumBackfills(store.read).catch(() => null);
  const webhookHealth = await listWebhookHealth(store.read).catch(() => null);
  const metrics = new MetricValues();
  metrics.put('crm_build_info', 1, { version, commit, engine: stats.engine });
  metrics.put('crm_ready', Number(isReady && !isDraining), {});
  metrics.put('crm_reader_threads', readers, {});
  batches.put(metrics);
  putStore(metrics, stats);
  metrics.put('crm_stored_answer_bytes', answers?.bytes ?? null, {});
  metrics.put('crm_stored_answers_used_ratio', answers?.usedMost ?? null, {});
  metrics.put('crm_changes_kept', changes, {});
  metrics.put('crm_search_pending_records', searchPending, {});
  putBackfills(metrics, backfills);
  putWebhooks(metrics, webhooks, webhookHealth);
  const lastBackupAt = stats.file === null ? null : await findLastBackupTime(store).catch(() => null);
  metrics.put('crm_backup_last_success_timestamp_seconds', seconds(lastBackupAt), {});
  if (backups !== null) putBackups(metrics, backups);
  if (delay !== null) metrics.putHistogram('crm_event_loop_delay_seconds', delay.seconds, {});
  return metrics.all;
}

function putBackfills(metrics: MetricValues, sums: ReadonlyMap<string, BackfillProgress> | null): void {
  for (const part of Object.keys(FILLERS)) {
    const { organizations, records, total } = sums?.get(part) ?? { organizations: 0, records: 0, total: 0 };
    metrics.put('crm_backfill_organizations', sums && organizations, { part });
    metrics.put('crm_backfill_records', sums && total, { part });
    metrics.put('crm_backfill_read_records', sums && records, { part });
  }
}

/** Unix milliseconds, 0 for never. */
async function findLastBackupTime({ read }: Store): Promise<number> {
  const last = await findLastBackup(read);
  return last === undefined ? 0 : Date.parse(last.taken_at);
}

function seconds(ms: number | null): number | null {
  return ms && ms / 1_000;
}

function putStore(
  metrics: MetricValues,
  { writes, waitingJobs, databaseBytes, file, pools }: StoreStats,
): void {
  metrics.put('crm_write_queue_jobs', waitingJobs, {});
  metrics.putHistogram('crm_write_group_jobs', writes.groupJobs, {});
  metrics.put('crm_commits_total', writes.groupJobs.count, {});
  metrics.putHistogram('crm_commit_duration_seconds', writes.commitSeconds, {});
  metrics.put('crm_write_failures_total', writes.failures, {});
  metrics.put('crm_database_size_bytes', databaseBytes, {});
  if (file !== null) {
    metrics.put('crm_database_disk_free_bytes', file.freeBytes, {});
    metrics.put('crm_sqlite_wal_bytes', file.logBytes, {});
    metrics.putHistogram('crm_sqlite_checkpoint_duration_seconds', file.checkpointSeconds, {});
  }
  for (const { purpose: pool, size, open, busy, waiting, opened, failed } of pools) {
    metrics.put('crm_postgres_pool_size', size, { pool });
    metrics.put('crm_postgres_pool_open', open, { pool });
    metrics.put('crm_postgres_pool_busy', busy, { pool });
    metrics.put('crm_postgres_pool_waiting', waiting, { pool });
    metrics.put('crm_postgres_connects_total', opened, { pool });
    metrics.put('crm_postgres_connect_failures_total', failed, { pool });
  }
}

function putWebhooks(metrics: MetricValues, stats: WebhookStats, health: WebhookHealth[] | null): void {
  for (const [outcome, count] of stats.attempts)
    metrics.put('crm_webhook_attempts_total', count, { outcome });
  metrics.put('crm_webhook_requests_in_flight', stats.underWay, {});
  metrics.put('crm_webhook_given_up_total', stats.givenUp, {});
  if (health === null) return;
  const states = { enabled: 0, off: 0, disabled: 0 };
  let [pending, since] = [0, Number.POSITIVE_INFINITY];
  for (const one of health) {
    states[one.is_enabled === 1 ? 'enabled' : one.disabled_reason === null ? 'off' : 'disabled'] += 1;
    pending += one.pending;
    since = Math.min(since, one.pending_since ?? since);
  }
  for (const [state, count] of Object.entries(states)) metrics.put('crm_webhooks', count, { state });
  metrics.put('crm_webhook_pending_changes', pending, {});
  metrics.put('crm_webhook_lag_seconds', Math.max(0, Date.now() - Math.min(since, Date.now())) / 1_000, {});
}

function putBackups(metrics: MetricValues, backups: BackupStats): void {
  metrics.put('crm_backup_interval_seconds', seconds(backups.intervalMs), {});
  metrics.put('crm_backups_total', backups.succeeded, { result: 'succeeded' });
  metrics.put('crm_backups_total', backups.failed, { result: 'failed' });
  metrics.put('crm_backup_last_duration_seconds', seconds(backups.lastMs), {});
  metrics.put('crm_backup_last_size_bytes', backups.lastBytes, {});
}
