// Planner statistics of growing tables: plans made for an empty table stay in use until it is analyzed.
import { BoundedMap } from '../cache.ts';
import type { PostgresConnection } from './connection.ts';

// This many rows are read quickly in any order; further checks come at four times as many each.
const ROWS_MIN = 100;
const GROWTH = 4;
// A smaller fraction of a table is likely to be missing from the sample.
const PART_MIN = 0.0001;
// If there are more counts, all start again.
const COUNTS_MAX = 10_000;

/** The entry for all organizations together. */
const ALL = 0;

interface Growing {
  table: string;
  orgNumber: number;
  /** Rows that this process has written since it began to count. */
  rows: number;
  /** The number of rows at which to check the statistics. */
  lookAt: number;
}

/**
 * Analyzes tables as they grow, after which every session of every node makes new plans. The server itself does so at most
 * once per minute, in which thousands of rows are written and looked up, and only after a table has grown by a tenth, until
 * which it treats a new organization as empty.
 */
export class TableGrowth {
  readonly #connect: () => PostgresConnection;
  readonly #growing = new BoundedMap<string, Growing>(COUNTS_MAX);
  readonly #due = new Set<Growing>();
  #connection: PostgresConnection | null = null;
  #isClosed = false;

  /** @param connect opens a connection for slow statements */
  constructor(connect: () => PostgresConnection) {
    this.#connect = connect;
  }

  /**
   * Notes how many rows a committed transaction has written to each table.
   * @param orgNumber the organization's number, 0 for several
   */
  note(orgNumber: number, written: ReadonlyMap<string, number>): void {
    for (const [table, rows] of written) {
      this.#add(table, ALL, rows);
      if (orgNumber !== ALL) this.#add(table, orgNumber, rows);
    }
    if (this.#due.size > 0 && this.#connection === null && !this.#isClosed) void this.#analyzeDue();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#connection?.close();
  }

  #add(table: string, orgNumber: number, rows: number): void {
    const name = `${orgNumber} ${table}`;
    const growing = this.#growing.get(name) ?? { table, orgNumber, rows: 0, lookAt: ROWS_MIN };
    this.#growing.set(name, growing);
    growing.rows += rows;
    if (growing.rows < growing.lookAt) return;
    this.#due.add(growing);
    while (growing.lookAt <= growing.rows) growing.lookAt *= GROWTH;
  }

  async #analyzeDue(): Promise<void> {
    const connection = this.#connect();
    this.#connection = connection;
    try {
      // Includes those added in the meantime.
      for (const growing of this.#due) {
        this.#due.delete(growing);
        // A table that is locked is already being analyzed.
        if (!(await isKnown(connection, growing)))
          await connection.run(`analyze (skip_locked) "${growing.table}"`);
      }
    } catch {
      // The server does it sooner or later.
      this.#due.clear();
    }
    this.#connection = null;
    await connection.close();
  }
}

// The number of rows of a table by its statistics, and how many of them belong to an organization: listed organizations have
// their listed fraction, all others an equal share of the rest.
const KNOWN = `
  select reltuples as total, reltuples * coalesce(most_common_freqs[array_position(names, $2::bigint)],
    (1 - named) / nullif(organizations - coalesce(cardinality(names), 0), 0), 0) as own
  from pg_class left join lateral (
    select most_common_freqs, most_common_vals::text::bigint[] as names,
      (select coalesce(sum(part), 0) from unnest(most_common_freqs) as part) as named,
      case when n_distinct < 0 then -n_distinct * reltuples else n_distinct end as organizations
    from pg_stats where schemaname = current_schema() and tablename = relname and attname = 'org_id') as s on true
  where oid = to_regclass($1)`;

// Another node, or the server, could have analyzed it in the meantime.
async function isKnown(
  connection: PostgresConnection,
  { table, orgNumber, rows }: Growing,
): Promise<boolean> {
  const [known] = await connection.run(KNOWN, [table, orgNumber]);
  const total = Number(known?.total ?? 0);
  if (orgNumber === ALL) return total >= rows;
  return Number(known?.own ?? 0) * GROWTH >= rows || rows < total * PART_MIN;
}

// Tables that the server does not remember analyzing; it forgets that in a crash.
const FORGOTTEN = `
  select relname from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace
    and pg_relation_size(oid) > current_setting('block_size')::int
    and coalesce(pg_stat_get_last_analyze_time(oid), pg_stat_get_last_autoanalyze_time(oid)) is null`;

/** The tables with more than a page of rows and without statistics, for example after pg_restore. */
export async function unknownTables(connection: PostgresConnection): Promise<string[]> {
  const unknown: string[] = [];
  for (const { relname } of await connection.run(FORGOTTEN)) {
    const known =
      'select true as is_known from pg_stats where schemaname = current_schema() and tablename = $1 limit 1';
    const rows = await connection.run(known, [relname]);
    if (rows.length === 0) unknown.push(String(relname));
  }
  return unknown;
}

/** Analyzes the tables without statistics. */
export async function analyzeUnknown(connection: PostgresConnection): Promise<void> {
  for (const table of await unknownTables(connection))
    await connection.run(`analyze (skip_locked) "${table}"`);
}
