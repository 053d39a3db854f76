// The space of removed rows, which nothing else uses before a vacuum: a table that is filled by merging grows by all that was written.
import type { PostgresConnection } from './connection.ts';

// Before that many rows nothing is asked of the server.
const ROWS_MIN = 200;
// A smaller table takes little space.
const BYTES_MIN = 2 ** 20;
// As the server does by itself, but at most once per minute, in which a search index is filled.
const PART_MIN = 0.1;

interface Removed {
  rows: number;
  /** The number of rows at which to look how many the table has. */
  lookAt: number;
}

/** Vacuums a table once a tenth as many rows as it has were removed. */
export class RemovedRows {
  readonly #connect: () => PostgresConnection;
  readonly #removed = new Map<string, Removed>();
  readonly #due = new Set<string>();
  #connection: PostgresConnection | null = null;
  #isClosed = false;

  /** @param connect opens a connection for slow statements */
  constructor(connect: () => PostgresConnection) {
    this.#connect = connect;
  }

  /** Notes how many rows of each table a committed transaction has removed. */
  note(removed: ReadonlyMap<string, number>): void {
    for (const [table, rows] of removed) {
      const one = this.#removed.getOrInsertComputed(table, () => ({ rows: 0, lookAt: ROWS_MIN }));
      one.rows += rows;
      if (one.rows >= one.lookAt) this.#due.add(table);
    }
    if (this.#due.size > 0 && this.#connection === null && !this.#isClosed) void this.#vacuumDue();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#connection?.close();
  }

  async #vacuumDue(): Promise<void> {
    const connection = this.#connect();
    this.#connection = connection;
    try {
      // Includes those added in the meantime.
      for (const table of this.#due) {
        this.#due.delete(table);
        await this.#vacuum(connection, table);
      }
    } catch {
      // The server does it sooner or later.
      this.#due.clear();
    }
    this.#connection = null;
    await connection.close();
  }

  async #vacuum(connection: PostgresConnection, table: string): Promise<void> {
    const one = this.#removed.get(table);
    if (one === undefined) return;
    const [known] = await connection.run(KNOWN, [table]);
    if (Number(known?.bytes ?? 0) < BYTES_MIN) one.lookAt = 2 * one.rows;
    else one.lookAt = Number(known?.rows ?? 0) * PART_MIN;
    if (one.rows < one.lookAt) return;
    this.#removed.delete(table);
    // A table that is locked is already being vacuumed.
    await connection.run(`vacuum (skip_locked) "${table}"`);
  }
}

const KNOWN = `
  select reltuples as rows, pg_relation_size(oid)::float8 as bytes from pg_class where oid = to_regclass($1)`;
