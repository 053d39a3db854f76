// Moves the write-ahead log into the file. SQLite would do it by itself, but hide a failed fsync.
import type { Connection } from './connection.ts';

// 4 MB of pages, SQLite's default.
const FRAMES_MAX = 1_000;

/** Whether the log is long enough to be moved. */
export function isCheckpointDue(writer: Connection): boolean {
  const { log, checkpointed } = runCheckpoint(writer, 'NOOP');
  return log - checkpointed >= FRAMES_MAX;
}

/**
 * Moves the log into the file, as far as readers allow; does not wait for them.
 * @throws SQLite's error if the disk fails, or is full
 */
export function checkpoint(writer: Connection): void {
  runCheckpoint(writer, 'PASSIVE');
}

/**
 * Moves the whole log into the file, and empties the log if no one uses it.
 * @throws SQLite's error if the disk fails, or is full
 */
export function checkpointAll(writer: Connection): void {
  runCheckpoint(writer, 'TRUNCATE');
}

// Both in frames; one frame is one written page.
interface Progress {
  log: number;
  checkpointed: number;
}

function runCheckpoint(writer: Connection, mode: 'NOOP' | 'PASSIVE' | 'TRUNCATE'): Progress {
  const statement = writer.prepare<Progress, []>(`PRAGMA wal_checkpoint(${mode})`);
  return statement.get() ?? { log: 0, checkpointed: 0 };
}
