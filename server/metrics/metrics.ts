// The metrics of a server that runs: gathered from its threads, its store and its backups whenever somebody asks.
import type { Store } from '../../db/store.ts';
import { findLastBackup } from '../../db/tables/last-backup.ts';
import { sumReplayBytes } from '../../db/tables/quotas.ts';
import { LoopDelay } from './loop-delay.ts';
import type { Metric } from './metric-values.ts';
import { MetricsPort } from './metrics-port.ts';
import {
  type BackupFigures,
  type BatchFigures,
  type ServiceFigures,
  serviceMetrics,
} from './service-metrics.ts';

export interface MetricsOptions {
  host: string;
  /** 0 takes any free port. */
  port: number;
  /** Which build of crm this is. */
  version: string;
  commit: string;
  /** Tells of the schedule of backups, if there is one. */
  backups?: () => BackupFigures;
}

/** What of a server its metrics are gathered from. */
export interface MetricsSources {
  store: Store;
  readers: number;
  batches: BatchFigures;
  /** What each thread that answers requests has counted. */
  fronts: () => Promise<Metric[][]>;
  /** Whether it sends clients elsewhere, since it is about to stop. */
  isDraining: () => boolean;
}

/**
 * Listens for who asks for metrics.
 * @throws the system's error if the address cannot be taken
 */
export function openMetrics(options: MetricsOptions, sources: MetricsSources): MetricsPort {
  // Where others answer, nobody looks how busy this thread is that writes for them.
  const delay = sources.readers > 0 ? new LoopDelay() : null;
  return new MetricsPort(options, async () => {
    const [fronts, figures] = await Promise.all([sources.fronts(), figuresOf(options, sources)]);
    return [serviceMetrics({ ...figures, delay: delay?.seconds ?? null }, sources.batches), ...fronts];
  });
}

async function figuresOf(
  { version, commit, backups }: MetricsOptions,
  { store, readers, isDraining }: MetricsSources,
): Promise<Omit<ServiceFigures, 'delay'>> {
  const [figures, isStoreReady] = await Promise.all([store.figures(), isFulfilled(store.ready())]);
  return {
    version,
    commit,
    isReady: isStoreReady && !isDraining(),
    readers,
    store: figures,
    // Null where the database cannot be read just now.
    answers: await sumReplayBytes(store.read, Date.now()).catch(() => null),
    lastBackupAt: figures.file === null ? null : await lastBackupAt(store),
    backups: backups?.() ?? null,
  };
}

async function isFulfilled(promise: Promise<void>): Promise<boolean> {
  const [{ status }] = await Promise.allSettled([promise]);
  return status === 'fulfilled';
}

// Null where the database cannot be read just now.
async function lastBackupAt(store: Store): Promise<number | null> {
  try {
    const last = await findLastBackup(store.read);
    return last === undefined ? 0 : Date.parse(last.taken_at);
  } catch {
    return null;
  }
}
