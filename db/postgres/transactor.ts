// How PostgreSQL writes: a lane per organization, and in each transaction the organization's lock, across all nodes.
import type { Eventually } from '../engine/engine.ts';
import { type ClockRow, clockOf, NO_CHANGES, organizationStateOf } from '../engine/organization-state.ts';
import { statement } from '../engine/statement.ts';
import type { PoolStats } from '../engine/store-stats.ts';
import type { Scope, Transaction, Transactor } from '../engine/write-queue.ts';
import type { PostgresConnection } from './connection.ts';
import { isOutdated } from './errors.ts';
import type { TableGrowth } from './planner-statistics.ts';
import { poolStats } from './pool.ts';
import type { RemovedRows } from './removed-rows.ts';

// The number for accounts, which are written under a separate lock.
const ACCOUNTS = 0;

const lock = statement<ClockRow>((db, param) => clockOf(db, param).forUpdate());

const insertLock = statement<never>((db, param) =>
  db
    .insertInto('org_clocks')
    .values({ org_id: param('org'), instant: 0, ...NO_CHANGES })
    .onConflict((conflict) => conflict.column('org_id').doNothing()),
);

/** The connections for writing, each used by one lane at a time. */
export class PostgresTransactor implements Transactor {
  readonly #connections: readonly PostgresConnection[];
  readonly #free: PostgresConnection[];
  readonly #growth: TableGrowth;
  readonly #removed: RemovedRows;
  readonly #waiting: ((connection: PostgresConnection) => void)[] = [];

  constructor(
    connections: readonly PostgresConnection[],
    { growth, removed }: { growth: TableGrowth; removed: RemovedRows },
  ) {
    this.#connections = connections;
    this.#free = [...connections];
    this.#growth = growth;
    this.#removed = removed;
  }

  /** The state of its connections; one with a transaction is busy until its end. */
  stats(purpose: string): PoolStats {
    return {
      ...poolStats(purpose, this.#connections),
      busy: this.#connections.length - this.#free.length,
      waiting: this.#waiting.length,
    };
  }

  laneOf(scope: Scope): string {
    return String(scope);
  }

  async begin(scope: Scope, hasSavepoints: boolean): Promise<Transaction> {
    const connection = await this.#take();
    const { db, progress } = connection;
    const orgNumber = scope === 'accounts' ? ACCOUNTS : scope;
    try {
      await connection.begin(hasSavepoints);
      // A separate statement, so that later ones see what the previous holder of the lock committed. Sent together with the
      // statement that begins the transaction.
      let [row] = await lock(db, { org: orgNumber });
      if (row === undefined) {
        await insertLock(db, { org: orgNumber });
        [row] = await lock(db, { org: orgNumber });
      }
      if (row !== undefined) progress.noteState(organizationStateOf(orgNumber, row));
    } catch (error) {
      await this.#undo(connection);
      throw error;
    }
    return {
      db,
      commit: async () => {
        await connection.commit();
        this.#growth.note(orgNumber, connection.written);
        this.#removed.note(connection.removed);
        this.#give(connection);
      },
      rollback: () => this.#undo(connection),
    };
  }

  onFailure(): void {
    // The failure was reported; the next transaction starts again.
  }

  betweenGroups(): void {
    // PostgreSQL needs nothing here.
  }

  #take(): Eventually<PostgresConnection> {
    return this.#free.pop() ?? new Promise<PostgresConnection>((take) => this.#waiting.push(take));
  }

  async #undo(connection: PostgresConnection): Promise<void> {
    // The same statement would fail on every session, because a newer crm has added a column.
    if (isOutdated(connection.progress.failure)) for (const one of this.#connections) one.renew();
    await connection.rollback();
    this.#give(connection);
  }

  #give(connection: PostgresConnection): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(connection);
    else next(connection);
  }
}
