// The writer queue: jobs that arrive together share one transaction and one fsync, each in a savepoint of its own.
import { nextTurn } from '../event-loop.ts';
import type { Db } from '../schema.ts';
import type { Connection } from './connection.ts';
import { isBusy, isDiskFailure } from './errors.ts';

// Both bound how long readers wait for the event loop, and writers for the others of their group.
const GROUP_JOBS_MAX = 64;
const GROUP_MS_MAX = 60;

// How long a job waits for another process to give back the write lock, and how often it is asked for meanwhile.
const LOCK_WAIT_MS_MAX = 5_000;
const LOCK_RETRY_MS = 2;

export interface QueueEvents {
  /** Comes last in each transaction; what it throws fails the whole group. */
  beforeCommit(): void;
  /** Comes after each commit, before anybody is told of it. */
  onCommit(): void;
  /** Comes after each group, when whoever waited for it has been answered. */
  betweenGroups(): void;
  /** The disk failed: nothing that the connection says can be trusted any more. */
  onDiskFailure(error: unknown): void;
}

interface Entry {
  /** When it was queued, by `performance.now()`. */
  since: number;
  run: () => Promise<void>;
  commit: () => void;
  fail: (error: unknown) => void;
}

/** Runs jobs one after another on the writer connection, grouped into durable transactions. */
export class WriteQueue {
  readonly #writer: Connection;
  #waiting: Entry[] = [];
  #draining: Promise<void> | null = null;
  #closed = false;
  #isFailing = false;
  readonly #events: QueueEvents;

  constructor(writer: Connection, events: QueueEvents) {
    this.#writer = writer;
    this.#events = events;
  }

  /** Queues a job; resolves with its result after the commit, rejects with its error after its rollback. */
  write<T>(job: (trx: Db) => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new Error('the store is closed'));
    return new Promise<T>((resolve, reject) => {
      let result: T;
      this.#waiting.push({
        since: performance.now(),
        run: async () => {
          result = await job(this.#writer.db);
        },
        commit: () => resolve(result),
        fail: reject,
      });
      this.#draining ??= this.#drain();
    });
  }

  /** Whether the last group failed as a whole. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** Refuses further jobs and resolves when the queued ones are done. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#draining;
  }

  async #drain(): Promise<void> {
    // One turn of the event loop lets requests that are already here join the first group.
    await nextTurn();
    while (this.#waiting.length > 0) {
      await this.#commitGroup(this.#waiting.splice(0, GROUP_JOBS_MAX));
      await nextTurn();
      this.#events.betweenGroups();
    }
    this.#draining = null;
  }

  async #commitGroup(group: Entry[]): Promise<void> {
    const done: Entry[] = [];
    try {
      await this.#begin(group[0]?.since ?? 0);
      const endsAt = performance.now() + GROUP_MS_MAX;
      for (const [index, entry] of group.entries()) {
        if (await this.#runInSavepoint(entry)) done.push(entry);
        if (performance.now() > endsAt) this.#waiting.unshift(...group.splice(index + 1));
      }
      this.#events.beforeCommit();
      this.#writer.run('COMMIT');
    } catch (error) {
      this.#isFailing = true;
      this.#rollBack();
      for (const entry of group) entry.fail(error);
      if (isDiskFailure(error)) this.#events.onDiskFailure(error);
      return;
    }
    this.#isFailing = false;
    this.#events.onCommit();
    for (const entry of done) entry.commit();
  }

  // SQLite's own way of waiting for a lock is to sleep, and the event loop with it.
  async #begin(since: number): Promise<void> {
    for (;;) {
      try {
        this.#writer.run('BEGIN IMMEDIATE');
        return;
      } catch (error) {
        if (!isBusy(error) || this.#closed || performance.now() > since + LOCK_WAIT_MS_MAX) throw error;
      }
      await Bun.sleep(LOCK_RETRY_MS);
    }
  }

  // False when the job failed by itself; its error is told at once and the group goes on without it.
  async #runInSavepoint(entry: Entry): Promise<boolean> {
    this.#writer.run('SAVEPOINT job');
    try {
      await entry.run();
    } catch (error) {
      // A full or failing disk ends the whole transaction: the group fails together.
      if (!this.#writer.inTransaction || isDiskFailure(error)) throw error;
      this.#writer.run('ROLLBACK TO job');
      this.#writer.run('RELEASE job');
      entry.fail(error);
      return false;
    }
    this.#writer.run('RELEASE job');
    return true;
  }

  #rollBack(): void {
    if (!this.#writer.inTransaction) return;
    try {
      this.#writer.run('ROLLBACK');
    } catch (error) {
      this.#events.onDiskFailure(error);
    }
  }
}
