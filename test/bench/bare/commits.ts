// Group commit: the writes that arrive in one turn of the event loop share one transaction and one fsync.
import type { Database } from 'bun:sqlite';

interface Waiting {
  job: () => unknown;
  resolve: (result: never) => void;
  reject: (error: unknown) => void;
}

/** Runs jobs in transactions that they share; if one of them fails, so do all of its transaction. */
export class Commits {
  readonly #begin;
  readonly #commit;
  readonly #rollback;
  #waiting: Waiting[] = [];

  constructor(db: Database) {
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#commit = db.prepare('COMMIT');
    this.#rollback = db.prepare('ROLLBACK');
  }

  /** Resolves with what the job gave once that is on the disk. */
  run<T>(job: () => T): Promise<T> {
    if (this.#waiting.length === 0) setImmediate(() => this.#flush());
    return new Promise<T>((resolve, reject) => this.#waiting.push({ job, resolve, reject }));
  }

  #flush(): void {
    const group = this.#waiting;
    this.#waiting = [];
    this.#begin.run();
    try {
      const results = group.map(({ job }) => job());
      this.#commit.run();
      for (const [index, { resolve }] of group.entries()) resolve(results[index] as never);
    } catch (error) {
      this.#rollback.run();
      for (const { reject } of group) reject(error);
    }
  }
}
