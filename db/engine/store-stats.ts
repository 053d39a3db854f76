// What a store tells of itself to whoever watches over it.
import { Distribution, SECONDS_BOUNDS } from './histogram.ts';

const GROUP_BOUNDS = [1, 2, 4, 8, 16, 32, 64];

/** What has become of writes since the store was opened. */
export class WriteFigures {
  /** Jobs of each transaction that was committed. */
  readonly groupJobs = new Distribution(GROUP_BOUNDS);
  /** What each commit took, until it was durable. */
  readonly commitSeconds = new Distribution(SECONDS_BOUNDS);
  /** Transactions that failed as a whole. */
  failures = 0;
}

export interface FileFigures {
  /** Of the write-ahead log. */
  logBytes: number;
  /** What is left on the disk; null where the system does not tell. */
  freeBytes: number | null;
  /** What it took each time to move the log into the file. */
  checkpointSeconds: Distribution;
}

/** Connections for one purpose. */
export interface PoolFigures {
  purpose: string;
  /** How many there may be, how many are open, and how many have something to do. */
  size: number;
  open: number;
  busy: number;
  /** Statements, or transactions, for which none is free. */
  waiting: number;
  /** Sessions that were opened, and attempts that failed. */
  opened: number;
  failed: number;
}

export interface StoreFigures {
  engine: 'sqlite' | 'postgresql';
  writes: WriteFigures;
  /** Jobs that wait for the transaction that will carry them out. */
  waitingJobs: number;
  /** Null where the engine does not tell just now. */
  databaseBytes: number | null;
  /** Null where the database is no file. */
  file: FileFigures | null;
  pools: readonly PoolFigures[];
}
