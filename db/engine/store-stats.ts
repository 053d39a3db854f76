// Figures of a store for monitoring.
import { Histogram, SECONDS_BUCKETS } from './histogram.ts';

const GROUP_BOUNDS = [1, 2, 4, 8, 16, 32, 64];

/** The writes since the store was opened. */
export class WriteStats {
  /** Jobs in each committed transaction. */
  readonly groupJobs = new Histogram(GROUP_BOUNDS);
  /** Duration of each commit until it was durable. */
  readonly commitSeconds = new Histogram(SECONDS_BUCKETS);
  /** Transactions that failed as a whole. */
  failures = 0;
}

export interface FileStats {
  /** Size of the write-ahead log. */
  logBytes: number;
  /** Free disk space; null if the system does not report it. */
  freeBytes: number | null;
  /** Duration of each checkpoint. */
  checkpointSeconds: Histogram;
}

/** Connections for one purpose. */
export interface PoolStats {
  purpose: string;
  /** Maximum, open and busy connections. */
  size: number;
  open: number;
  busy: number;
  /** Statements or transactions that wait for a connection. */
  waiting: number;
  /** Sessions opened, and failed attempts. */
  opened: number;
  failed: number;
}

export interface StoreStats {
  engine: 'sqlite' | 'postgresql';
  writes: WriteStats;
  /** Jobs waiting for a transaction. */
  waitingJobs: number;
  /** Null if the engine cannot report it right now. */
  databaseBytes: number | null;
  /** Null if the database is not a file. */
  file: FileStats | null;
  pools: readonly PoolStats[];
}
