// The metrics of a running server, gathered from its threads, store and backups for each scrape.
import type { Store } from '../../db/store.ts';
import { findLastBackup } from '../../db/tables/last-backup.ts';
import { sumReplayBytes } from '../../db/tables/quotas.ts';
import { LoopDelay } from './loop-delay.ts';
import type { Metric } from './metric-values.ts';
import { MetricsPort } from './metrics-port.ts';
import { type BackupStats, type BatchStats, type ServiceStats, serviceMetrics } from './service-metrics.ts';

export interface MetricsOptions {
  host: string;
  /** 0 picks any free port. */
  port: number;
  /** The version of crm. */
  version: string;
  commit: string;
  /** Returns the state of scheduled backups, if there is a schedule. */
  backups?: () => BackupStats;
}

/** Where the metrics of a server come from. */
export interface MetricsSources {
  store: Store;
  readers: number;
  batches: BatchStats;
  /** What each thread that answers requests has counted. */
  requestMetrics: () => Promise<Metric[][]>;
  /** Whether the server sends clients elsewhere because it is about to stop. */
  isDraining: () => boolean;
}

/**
 * Starts to serve the metrics.
 * @throws the system's error if the address cannot be taken
 */
export function openMetrics(options: MetricsOptions, sources: MetricsSources): MetricsPort {
  // With reader threads, no request measures the delay of this thread, which only writes.
  const delay = sources.readers > 0 ? new LoopDelay() : null;
  return new MetricsPort(options, async () => {
    const [requestMetrics, stats] = await Promise.all([sources.requestMetrics(), statsOf(options, sources)]);
    return [serviceMetrics({ ...stats, delay: delay?.seconds ?? null }, sources.batches), ...requestMetrics];
  });
}

async function statsOf(
  { version, commit, backups }: MetricsOptions,
  { store, readers, isDraining }: MetricsSources,
): Promise<Omit<ServiceStats, 'delay'>> {
  const [stats, isStoreReady] = await Promise.all([store.stats(), isFulfilled(store.ready())]);
  return {
    version,
    commit,
    isReady: isStoreReady && !isDraining(),
    readers,
    store: stats,
    // Null if the database cannot be read right now.
    answers: await sumReplayBytes(store.read, Date.now()).catch(() => null),
    lastBackupAt: stats.file === null ? null : await lastBackupAt(store),
    backups: backups?.() ?? null,
  };
}

async function isFulfilled(promise: Promise<void>): Promise<boolean> {
  const [{ status }] = await Promise.allSettled([promise]);
  return status === 'fulfilled';
}

// Null if the database cannot be read right now.
async function lastBackupAt(store: Store): Promise<number | null> {
  try {
    const last = await findLastBackup(store.read);
    return last === undefined ? 0 : Date.parse(last.taken_at);
  } catch {
    return null;
  }
}
