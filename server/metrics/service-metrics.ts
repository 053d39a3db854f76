// Metrics of the whole service: store, writes, backups and readiness.
import type { Histogram } from '../../db/engine/histogram.ts';
import type { StoreStats } from '../../db/engine/store-stats.ts';
import type { Answer, Operation } from '../operation.ts';
import type { WriteObserver } from '../pipeline/observer.ts';
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

export interface ServiceStats {
  version: string;
  commit: string;
  isReady: boolean;
  readers: number;
  store: StoreStats;
  /** Size of stored responses, and the largest fraction of its limit that an organization has used; null if unknown. */
  answers: { bytes: number; usedMost: number } | null;
  /** Unix milliseconds, 0 for never; null if crm does not make the backups. */
  lastBackupAt: number | null;
  /** Null if there is no schedule. */
  backups: BackupStats | null;
  /** How late the writing thread is, in seconds; null if it answers requests and reports the delay with them. */
  delay: Histogram | null;
}

/** Counts the batch items that were written. */
export class BatchStats implements WriteObserver {
  readonly #items = new Map<string, { created: number; failed: number }>();

  wrote(operation: Operation, answer: Answer): void {
    if (answer.status === 204 || answer.object !== 'batch') return;
    const { summary } = answer.data as { summary: { succeeded: number; failed: number } };
    const before = this.#items.get(operation.path) ?? { created: 0, failed: 0 };
    this.#items.set(operation.path, {
      created: before.created + summary.succeeded,
      failed: before.failed + summary.failed,
    });
  }

  put(sheet: MetricValues): void {
    for (const [route, { created, failed }] of this.#items) {
      sheet.put('crm_batch_items_total', created, { route, result: 'created' });
      sheet.put('crm_batch_items_total', failed, { route, result: 'failed' });
    }
  }
}

/** The metrics of the whole service. */
export function serviceMetrics(stats: ServiceStats, batches: BatchStats): Metric[] {
  const { version, commit, store, isReady, readers, answers } = stats;
  const sheet = new MetricValues();
  sheet.put('crm_build_info', 1, { version, commit, engine: store.engine });
  sheet.put('crm_ready', Number(isReady), {});
  sheet.put('crm_reader_threads', readers, {});
  batches.put(sheet);
  putStore(sheet, store);
  sheet.put('crm_stored_answer_bytes', answers?.bytes ?? null, {});
  sheet.put('crm_stored_answers_used_ratio', answers?.usedMost ?? null, {});
  putBackups(sheet, stats);
  if (stats.delay !== null) sheet.spread('crm_event_loop_delay_seconds', stats.delay, {});
  return sheet.metrics;
}

function putStore(
  sheet: MetricValues,
  { writes, waitingJobs, databaseBytes, file, pools }: StoreStats,
): void {
  sheet.put('crm_write_queue_jobs', waitingJobs, {});
  sheet.spread('crm_write_group_jobs', writes.groupJobs, {});
  sheet.put('crm_commits_total', writes.groupJobs.count, {});
  sheet.spread('crm_commit_duration_seconds', writes.commitSeconds, {});
  sheet.put('crm_write_failures_total', writes.failures, {});
  sheet.put('crm_database_size_bytes', databaseBytes, {});
  if (file !== null) {
    sheet.put('crm_database_disk_free_bytes', file.freeBytes, {});
    sheet.put('crm_sqlite_wal_bytes', file.logBytes, {});
    sheet.spread('crm_sqlite_checkpoint_duration_seconds', file.checkpointSeconds, {});
  }
  for (const { purpose: pool, size, open, busy, waiting, opened, failed } of pools) {
    sheet.put('crm_postgres_pool_size', size, { pool });
    sheet.put('crm_postgres_pool_open', open, { pool });
    sheet.put('crm_postgres_pool_busy', busy, { pool });
    sheet.put('crm_postgres_pool_waiting', waiting, { pool });
    sheet.put('crm_postgres_connects_total', opened, { pool });
    sheet.put('crm_postgres_connect_failures_total', failed, { pool });
  }
}

function putBackups(sheet: MetricValues, { lastBackupAt, backups }: ServiceStats): void {
  const seconds = (ms: number | null) => ms && ms / 1_000;
  sheet.put('crm_backup_last_success_timestamp_seconds', seconds(lastBackupAt), {});
  if (backups === null) return;
  sheet.put('crm_backup_interval_seconds', seconds(backups.intervalMs), {});
  sheet.put('crm_backups_total', backups.succeeded, { result: 'succeeded' });
  sheet.put('crm_backups_total', backups.failed, { result: 'failed' });
  sheet.put('crm_backup_last_duration_seconds', seconds(backups.lastMs), {});
  sheet.put('crm_backup_last_size_bytes', backups.lastBytes, {});
}
