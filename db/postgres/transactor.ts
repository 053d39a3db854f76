// How PostgreSQL writes: a lane for each organization, and in each transaction the organization's lock, over all nodes.
import type { Eventually } from '../engine/engine.ts';
import { CLOCK_COLUMNS, type ClockRow, orgStateOf } from '../engine/organization-state.ts';
import { statement } from '../engine/statement.ts';
import type { PoolFigures } from '../engine/store-stats.ts';
import type { Scope, Transaction, Transactor } from '../engine/write-queue.ts';
import type { PostgresConnection } from './connection.ts';
import { endsTransaction, isOutdated } from './errors.ts';
import type { TableGrowth } from './planner-statistics.ts';
import { poolFigures } from './pool.ts';

// Its number among the organizations': what belongs to none is written under a lock of its own.
const ACCOUNTS = 0;

const lock = statement<ClockRow>((db, param) =>
  db.selectFrom('org_clocks').select(CLOCK_COLUMNS).where('org_id', '=', param('org')).forUpdate(),
);

const insertLock = statement<never>((db, param) =>
  db
    .insertInto('org_clocks')
    .values({ org_id: param('org'), last_instant: 0 })
    .onConflict((conflict) => conflict.column('org_id').doNothing()),
);

/** The connections that write, each used by one lane at a time. */
export class PostgresTransactor implements Transactor {
  readonly #connections: readonly PostgresConnection[];
  readonly #free: PostgresConnection[];
  readonly #growth: TableGrowth;
  readonly #waiting: ((connection: PostgresConnection) => void)[] = [];

  constructor(connections: readonly PostgresConnection[], growth: TableGrowth) {
    this.#connections = connections;
    this.#free = [...connections];
    this.#growth = growth;
  }

  /** What its connections are doing; one that has a transaction is busy until its end. */
  figures(purpose: string): PoolFigures {
    return {
      ...poolFigures(purpose, this.#connections),
      busy: this.#connections.length - this.#free.length,
      waiting: this.#waiting.length,
    };
  }

  laneOf(scope: Scope): string {
    return String(scope);
  }

  async begin(scope: Scope): Promise<Transaction> {
    const connection = await this.#take();
    const { db, progress } = connection;
    const orgId = scope === 'accounts' ? ACCOUNTS : scope;
    try {
      await connection.begin();
      // A statement of its own, so that what follows sees what whoever had the lock before has committed. It goes out
      // together with the one that begins.
      let [row] = await lock(db, { org: orgId });
      if (row === undefined) {
        await insertLock(db, { org: orgId });
        [row] = await lock(db, { org: orgId });
      }
      progress.states.length = 0;
      if (row !== undefined) progress.states.push(orgStateOf(orgId, row));
    } catch (error) {
      await this.#undo(connection);
      throw error;
    }
    return {
      db,
      commit: async () => {
        await connection.commit();
        this.#growth.note(orgId, connection.written);
        this.#give(connection);
      },
      rollback: () => this.#undo(connection),
      endsGroup: endsTransaction,
    };
  }

  onFailure(): void {
    // What failed was told; the next transaction begins anew.
  }

  betweenGroups(): void {
    // Nothing is to be moved or checked.
  }

  #take(): Eventually<PostgresConnection> {
    return this.#free.pop() ?? new Promise<PostgresConnection>((take) => this.#waiting.push(take));
  }

  async #undo(connection: PostgresConnection): Promise<void> {
    // So would each such statement be, on every session; a newer crm has added a column.
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
