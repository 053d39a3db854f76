// How SQLite writes: one lane for all, because the database has one write lock.

import type { Transaction, Transactor } from '../engine/write-queue.ts';
import { Turns } from '../event-loop.ts';
import type { Connection } from './connection.ts';
import { isBusy, isDiskFailure } from './errors.ts';

// How often the write lock is asked for while another process has it.
const LOCK_RETRY_MS = 2;

export interface TransactorEvents {
  /** Comes last in each transaction; what it throws fails the whole group. */
  beforeCommit(): void;
  /** Comes after each commit, before anybody is told of it. */
  onCommit(): void;
  /** Comes between two groups, when whoever waited for the first has been answered. */
  betweenGroups(): void;
  /** The disk failed: nothing that the connection says can be trusted any more. */
  onDiskFailure(error: unknown): void;
}

/** Makes the writer of a connection. */
export function sqliteTransactor(connection: Connection, events: TransactorEvents): Transactor {
  let turns = new Turns();
  const commit = (): void => {
    events.beforeCommit();
    connection.post('COMMIT');
    events.onCommit();
  };
  const transaction: Transaction = {
    db: connection.db,
    // A commit of much takes as long as it took to write it.
    commit: () => (turns.isOver ? turns.next().then(commit) : commit()),
    rollback() {
      if (!connection.inTransaction) return;
      try {
        connection.post('ROLLBACK');
      } catch (error) {
        events.onDiskFailure(error);
      }
    },
    // A full or failing disk ends the whole transaction.
    endsGroup: (error) => !connection.inTransaction || isDiskFailure(error),
  };
  return {
    laneOf: () => '',
    async begin(_scope, isTooLate) {
      // SQLite's own way of waiting for a lock is to sleep, and the event loop with it.
      for (;;) {
        try {
          connection.post('BEGIN IMMEDIATE');
          connection.progress.states.length = 0;
          turns = new Turns();
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
