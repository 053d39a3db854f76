// Moves the write-ahead log into the file. SQLite would do it by itself, and say nothing of an fsync that failed in it.
import type { Connection } from './connection.ts';

// 4 MB of pages, as SQLite has it.
const FRAMES_MAX = 1_000;

/** Whether so much stands in the log that it should be moved. */
export function isCheckpointDue(writer: Connection): boolean {
  const { log, checkpointed } = runCheckpoint(writer, 'NOOP');
  return log - checkpointed >= FRAMES_MAX;
}

/**
 * Moves what the log holds into the file, as far as readers let it; waits for nobody.
 * @throws SQLite's error if the disk fails, or is full
 */
export function checkpoint(writer: Connection): void {
  runCheckpoint(writer, 'PASSIVE');
}

/**
 * Moves all that the log holds into the file, and empties the log if nobody uses it.
 * @throws SQLite's error if the disk fails, or is full
 */
export function checkpointAll(writer: Connection): void {
  runCheckpoint(writer, 'TRUNCATE');
}

// Both in frames; one is a page that was written.
interface Progress {
  log: number;
  checkpointed: number;
}

function runCheckpoint(writer: Connection, mode: 'NOOP' | 'PASSIVE' | 'TRUNCATE'): Progress {
  const statement = writer.prepare<Progress, []>(`PRAGMA wal_checkpoint(${mode})`);
  return statement.get() ?? { log: 0, checkpointed: 0 };
}
