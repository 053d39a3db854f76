// The write queue: jobs of one lane run one after another, and those that arrive together share one durable transaction.
import { DatabaseError } from '../database-error.ts';
import { nextTurn } from '../event-loop.ts';
import { saveChanges } from './change-log.ts';
import type { LastChanges } from './change-signals.ts';
import type { Eventually } from './engine.ts';
import { saveOrganizationStates } from './organization-state.ts';
import type { RecordKey, Trx } from './schema.ts';
import { WriteStats } from './store-stats.ts';

// Both limit how long readers wait for the event loop, and writers for the others of their group.
const GROUP_JOBS_MAX = 64;
const GROUP_MS_MAX = 60;
// How long a job waits for a lock of another process.
const LOCK_WAIT_MS_MAX = 5_000;

/** What a job writes to: one organization, or accounts (organizations, users, keys, settings). */
export type Scope = RecordKey['orgNumber'] | 'accounts';

/** An engine's transaction for a group of jobs. */
export interface Transaction {
  readonly db: Trx;
  commit(): Eventually<void>;
  /** Undoes everything; also called after a failed commit. */
  rollback(): Eventually<void>;
}

/** How an engine writes. */
export interface Transactor {
  /** Jobs of one lane wait for each other. */
  laneOf(scope: Scope): string;
  /** Begins a transaction; retries while another process has the lock, until `isTooLate`. */
  begin(scope: Scope, hasSavepoints: boolean, isTooLate: () => boolean): Promise<Transaction>;
  /** Called after a group that failed as a whole. */
  onFailure(error: unknown): void;
  /** Called after each group, one turn of the event loop after its callers were notified. */
  betweenGroups(): void;
}

interface Entry {
  scope: Scope;
  /** When it was queued, by `performance.now()`. */
  since: number;
  run(db: Trx): Promise<void>;
  /** Reports the result of the last run to the caller. */
  settle(): void;
  fail(error: unknown): void;
}

interface Lane {
  waiting: Entry[];
  draining: Promise<void>;
}

/** The error for calls to a store that is closed or closing. */
export function closedHere(): DatabaseError {
  return new DatabaseError('The database is closed in this process.', []);
}

/** Runs jobs in groups, each group in one transaction. A job can run twice; only the last run counts. */
export class WriteQueue {
  readonly #transactor: Transactor;
  readonly #onChanges: (last: LastChanges) => void;
  readonly #lanes = new Map<string, Lane>();
  readonly stats = new WriteStats();
  #closed = false;
  #isFailing = false;

  /** @param onChanges called after each commit that adds changes */
  constructor(transactor: Transactor, onChanges: (last: LastChanges) => void) {
    this.#transactor = transactor;
    this.#onChanges = onChanges;
  }

  /** Queues a job; resolves with its result after the commit, rejects with its error after its rollback. */
  write<T>(scope: Scope, job: (trx: Trx) => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(closedHere());
    return new Promise<T>((resolve, reject) => this.#enqueue(entryOf(scope, job, resolve, reject)));
  }

  /** Whether the last group failed as a whole. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** Jobs waiting for a transaction. */
  get waitingJobs(): number {
    return [...this.#lanes.values()].reduce((sum, { waiting }) => sum + waiting.length, 0);
  }

  /** Rejects further jobs and resolves when the queued ones are done. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#lanes.values()].map(({ draining }) => draining));
  }

  #enqueue(entry: Entry): void {
    const name = this.#transactor.laneOf(entry.scope);
    const lane = this.#lanes.get(name);
    if (lane !== undefined) {
      lane.waiting.push(entry);
      return;
    }
    const waiting = [entry];
    this.#lanes.set(name, { waiting, draining: this.#drain(name, waiting) });
  }

  async #drain(name: string, waiting: Entry[]): Promise<void> {
    // One turn of the event loop lets requests that have already arrived join the first group.
    await nextTurn();
    while (waiting.length > 0) {
      await this.#carryOut(waiting.splice(0, GROUP_JOBS_MAX), waiting);
      await nextTurn();
      this.#transactor.betweenGroups();
    }
    this.#lanes.delete(name);
  }

  async #carryOut(group: Entry[], waiting: Entry[]): Promise<void> {
    try {
      if (!(await this.#commit(group, waiting, false))) await this.#commit(group, waiting, true);
    } catch (error) {
      this.#isFailing = true;
      this.stats.failures += 1;
      for (const entry of group) entry.fail(error);
      this.#transactor.onFailure(error);
      return;
    }
    this.#isFailing = false;
    for (const entry of group) entry.settle();
  }

  // False if the group must run again with savepoints.
  async #commit(group: Entry[], waiting: Entry[], hasSavepoints: boolean): Promise<boolean> {
    const [first] = group;
    if (first === undefined) return true;
    const tooLateAt = first.since + LOCK_WAIT_MS_MAX;
    const isTooLate = () => this.#closed || performance.now() > tooLateAt;
    const transaction = await this.#transactor.begin(first.scope, hasSavepoints, isTooLate);
    const { engine } = transaction.db;
    const { progress } = engine;
    try {
      await runGroup(group, waiting, transaction.db);
      if (progress.isSpoiled) await transaction.rollback();
      else {
        await saveChanges(transaction.db);
        await saveOrganizationStates(transaction.db);
        // Before the commit, after which the connection can begin another transaction.
        const { newChanges } = progress;
        const begunAt = performance.now();
        await transaction.commit();
        if (newChanges.size > 0) this.#onChanges(newChanges);
        this.stats.commitSeconds.add((performance.now() - begunAt) / 1_000);
        this.stats.groupJobs.add(group.length);
      }
    } catch (error) {
      await transaction.rollback();
      if (!progress.isSpoiled || engine.endsTransaction(error)) throw error;
    }
    return !progress.isSpoiled;
  }
}

// Jobs for which there is no time left return to the queue.
async function runGroup(group: Entry[], waiting: Entry[], db: Trx): Promise<void> {
  const endsAt = performance.now() + GROUP_MS_MAX;
  for (const [index, entry] of group.entries()) {
    await runJob(entry, db);
    if (db.engine.progress.isSpoiled) return;
    if (performance.now() > endsAt) waiting.unshift(...group.splice(index + 1));
  }
}

// The caller of a job that fails gets its error; the others of the group continue, if they can.
async function runJob(entry: Entry, db: Trx): Promise<void> {
  try {
    await db.engine.progress.attempt('job', () => entry.run(db));
  } catch (error) {
    if (db.engine.endsTransaction(error)) throw error;
  }
}

function entryOf<T>(
  scope: Scope,
  job: (trx: Trx) => Promise<T>,
  resolve: (result: T) => void,
  reject: (error: unknown) => void,
): Entry {
  let settle = (): void => undefined;
  return {
    scope,
    since: performance.now(),
    async run(db) {
      try {
        const result = await job(db);
        const { failure } = db.engine.progress;
        // Work that a job starts after this point is not part of the commit.
        if (failure !== null) throw failure;
        settle = () => resolve(result);
      } catch (error) {
        settle = () => reject(error);
        throw error;
      }
    },
    settle: () => settle(),
    fail: reject,
  };
}
