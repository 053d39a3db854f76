// How SQLite writes: one lane for everything, because the database has one write lock.

import type { Transaction, Transactor } from '../engine/write-queue.ts';
import { TimeSlices } from '../event-loop.ts';
import type { Connection } from './connection.ts';
import { isBusy, isDiskFailure } from './errors.ts';

// How often to retry while another process has the write lock.
const LOCK_RETRY_MS = 2;

export interface TransactorEvents {
  /** Called last in each transaction; if it throws, the whole group fails. */
  beforeCommit(): void;
  /** Called after each commit, before anyone learns of it. */
  onCommit(): void;
  /** Called between two groups, after the callers of the first were answered. */
  betweenGroups(): void;
  /** The disk failed: the connection can no longer be trusted. */
  onDiskFailure(error: unknown): void;
}

/** Makes the writer of a connection. */
export function sqliteTransactor(connection: Connection, events: TransactorEvents): Transactor {
  let turns = new TimeSlices();
  const commit = (): void => {
    events.beforeCommit();
    connection.post('COMMIT');
    events.onCommit();
  };
  const transaction: Transaction = {
    db: connection.db,
    // Committing a lot of data takes as long as writing it did.
    commit: () => (turns.isOver ? turns.next().then(commit) : commit()),
    rollback() {
      if (!connection.inTransaction) return;
      try {
        connection.post('ROLLBACK');
      } catch (error) {
        events.onDiskFailure(error);
      }
    },
  };
  return {
    laneOf: () => '',
    async begin(_scope, hasSavepoints, isTooLate) {
      // SQLite's own way to wait for a lock is to sleep, which blocks the event loop.
      for (;;) {
        try {
          connection.post('BEGIN IMMEDIATE');
          connection.progress.begin(hasSavepoints);
          turns = new TimeSlices();
          return transaction;
        } catch (error) {
          if (!isBusy(error) || isTooLate()) throw error;
        }
        await Bun.sleep(LOCK_RETRY_MS);
      }
    },
    onFailure(error) {
      if (isDiskFailure(error)) events.onDiskFailure(error);
    },
    betweenGroups: events.betweenGroups,
  };
}
