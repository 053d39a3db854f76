// What the planner knows of tables that fill up: it keeps plans that it made for empty ones until they are analyzed.
import type { PostgresConnection } from './connection.ts';

// As many rows are read quickly in any order, and each further look comes at four times as many.
const ROWS_MIN = 100;
const GROWTH = 4;

interface Growing {
  /** What this process has written, since it began. */
  rows: number;
  /** With how many to look at what is known of the table. */
  lookAt: number;
}

/**
 * Has tables analyzed as they grow, after which every session of every node plans anew. The server does so by itself at
 * most once a minute, in which thousands of rows are written and each of them looks for others.
 */
export class TableGrowth {
  readonly #connect: () => PostgresConnection;
  readonly #tables = new Map<string, Growing>();
  readonly #due = new Map<string, number>();
  #connection: PostgresConnection | null = null;
  #isClosed = false;

  /** @param connect opens a connection whose statements may take their time */
  constructor(connect: () => PostgresConnection) {
    this.#connect = connect;
  }

  /** Takes how many rows a transaction has written to each table, and committed. */
  note(written: ReadonlyMap<string, number>): void {
    for (const [name, rows] of written) {
      const table = this.#tables.get(name) ?? { rows: 0, lookAt: ROWS_MIN };
      this.#tables.set(name, table);
      table.rows += rows;
      if (table.rows < table.lookAt) continue;
      this.#due.set(name, table.rows);
      while (table.lookAt <= table.rows) table.lookAt *= GROWTH;
    }
    if (this.#due.size > 0 && this.#connection === null && !this.#isClosed) void this.#analyzeDue();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#connection?.close();
  }

  async #analyzeDue(): Promise<void> {
    const connection = this.#connect();
    this.#connection = connection;
    try {
      // With those that come meanwhile.
      for (const [name, rows] of this.#due) {
        this.#due.delete(name);
        await analyze(connection, name, rows);
      }
    } catch {
      // The server does it sooner or later.
      this.#due.clear();
    }
    this.#connection = null;
    await connection.close();
  }
}

// Another node may have done it; and whoever has the table locked is at it.
async function analyze(connection: PostgresConnection, name: string, rows: number): Promise<void> {
  const known = await connection.run('select reltuples from pg_class where oid = to_regclass($1)', [name]);
  if (Number(known[0]?.reltuples) < rows) await connection.run(`analyze (skip_locked) "${name}"`);
}

// Of which the server does not remember that it looked at them; it forgets that in a crash.
const FORGOTTEN = `
  select relname from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace
    and pg_relation_size(oid) > current_setting('block_size')::int
    and coalesce(pg_stat_get_last_analyze_time(oid), pg_stat_get_last_autoanalyze_time(oid)) is null`;

/** Analyzes the tables with more than a page of rows of which nothing is known, as of those that pg_restore has filled. */
export async function analyzeUnknown(connection: PostgresConnection): Promise<void> {
  for (const { relname } of await connection.run(FORGOTTEN)) {
    const known =
      'select true as is_known from pg_stats where schemaname = current_schema() and tablename = $1 limit 1';
    const rows = await connection.run(known, [relname]);
    if (rows.length === 0) await connection.run(`analyze (skip_locked) "${relname}"`);
  }
}
