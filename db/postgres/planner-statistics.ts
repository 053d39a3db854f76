// What the planner knows of tables that fill up: it keeps plans that it made for empty ones until they are analyzed.
import { BoundedMap } from '../cache.ts';
import type { PostgresConnection } from './connection.ts';

// As many rows are read quickly in any order, and each further look comes at four times as many.
const ROWS_MIN = 100;
const GROWTH = 4;
// What has so small a part of a table may well not be among the rows that are looked at.
const PART_MIN = 0.0001;
// More counts are not kept; then all begin anew.
const COUNTS_MAX = 10_000;

/** All organizations together, among their numbers. */
const ALL = 0;

interface Growing {
  table: string;
  orgId: number;
  /** What this process has written, since it began to count. */
  rows: number;
  /** With how many to look at what is known. */
  lookAt: number;
}

/**
 * Has tables analyzed as they grow, after which every session of every node plans anew. The server does so by itself at
 * most once a minute, in which thousands of rows are written and each of them looks for others; and only once a table has
 * grown by a tenth, before which it takes an organization that is new there for an empty one.
 */
export class TableGrowth {
  readonly #connect: () => PostgresConnection;
  readonly #growing = new BoundedMap<string, Growing>(COUNTS_MAX);
  readonly #due = new Set<Growing>();
  #connection: PostgresConnection | null = null;
  #isClosed = false;

  /** @param connect opens a connection whose statements may take their time */
  constructor(connect: () => PostgresConnection) {
    this.#connect = connect;
  }

  /**
   * Takes how many rows a transaction has written to each table, and committed.
   * @param orgId the organization's number, 0 where they are of several
   */
  note(orgId: number, written: ReadonlyMap<string, number>): void {
    for (const [table, rows] of written) {
      this.#add(table, ALL, rows);
      if (orgId !== ALL) this.#add(table, orgId, rows);
    }
    if (this.#due.size > 0 && this.#connection === null && !this.#isClosed) void this.#analyzeDue();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#connection?.close();
  }

  #add(table: string, orgId: number, rows: number): void {
    const name = `${orgId} ${table}`;
    const growing = this.#growing.get(name) ?? { table, orgId, rows: 0, lookAt: ROWS_MIN };
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
      // With those that come meanwhile.
      for (const growing of this.#due) {
        this.#due.delete(growing);
        // Whoever has the table locked is at it.
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

// How many rows a table has by its statistics, and how many of them are an organization's: those that are named with their
// part have that, all others have as many each.
const KNOWN = `
  select reltuples as total, reltuples * coalesce(most_common_freqs[array_position(names, $2::bigint)],
    (1 - named) / nullif(organizations - coalesce(cardinality(names), 0), 0), 0) as own
  from pg_class left join lateral (
    select most_common_freqs, most_common_vals::text::bigint[] as names,
      (select coalesce(sum(part), 0) from unnest(most_common_freqs) as part) as named,
      case when n_distinct < 0 then -n_distinct * reltuples else n_distinct end as organizations
    from pg_stats where schemaname = current_schema() and tablename = relname and attname = 'org_id') as s on true
  where oid = to_regclass($1)`;

// It may have been analyzed meanwhile, by another node or by itself.
async function isKnown(connection: PostgresConnection, { table, orgId, rows }: Growing): Promise<boolean> {
  const [known] = await connection.run(KNOWN, [table, orgId]);
  const total = Number(known?.total ?? 0);
  if (orgId === ALL) return total >= rows;
  return Number(known?.own ?? 0) * GROWTH >= rows || rows < total * PART_MIN;
}

// Of which the server does not remember that it looked at them; it forgets that in a crash.
const FORGOTTEN = `
  select relname from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace
    and pg_relation_size(oid) > current_setting('block_size')::int
    and coalesce(pg_stat_get_last_analyze_time(oid), pg_stat_get_last_autoanalyze_time(oid)) is null`;

/** The tables with more than a page of rows of which nothing is known, as of those that pg_restore has filled. */
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

/** Analyzes the tables of which nothing is known. */
export async function analyzeUnknown(connection: PostgresConnection): Promise<void> {
  for (const table of await unknownTables(connection))
    await connection.run(`analyze (skip_locked) "${table}"`);
}
