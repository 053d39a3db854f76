// A copy of a database file as it is at one moment, made beside whoever serves it.
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { type TableShape, tablesOf } from './catalog.ts';
import { Connection } from './connection.ts';
import { explainFileError, guarded, isWriteFailure } from './errors.ts';
import { createPrivately } from './file-check.ts';
import { APPLICATION_ID, firstMark } from './main-file.ts';
import { tellPlanner } from './planner.ts';
import { openConnectionSnapshot } from './snapshot.ts';

/** The name by which queries to the copy reach the tables that it is of. */
export const ORIGINAL = 'original';

const ROWS_PER_STEP = 5_000;

const COPY = {
  // What is not whole is thrown away; once it is whole it is synced.
  journal_mode: 'memory',
  synchronous: 0,
  // KiB, where negative.
  cache_size: -65_536,
  temp_store: 2,
};

interface Closeable {
  close(): void;
}

interface Table {
  name: string;
  sql: string;
  columns: string[];
  /** In the order of which its rows lie. */
  key: string[];
}

/** A copy that is being made. */
export class FileCopy {
  readonly #connection: Connection;
  readonly #original: Closeable;
  readonly #from: string;
  readonly #path: string;

  private constructor(from: string, path: string, connection: Connection, original: Closeable) {
    this.#from = from;
    this.#path = path;
    this.#connection = connection;
    this.#original = original;
  }

  /**
   * Begins a copy of what is committed by now.
   * @param from a database file, served or not
   * @param to a file that is not there yet
   * @throws DatabaseError if either cannot be used
   */
  static open(from: string, to: string): FileCopy {
    const original = openConnectionSnapshot(from);
    const opened: Closeable[] = [original];
    try {
      // Whoever closes a file last moves its log into it. This one is the last here, and cannot where there is one.
      guarded(from, () => original.connection.pragma('schema_version'));
      createPrivately(to);
      const connection = guarded(to, () => new Connection(to, { byUri: 'create' }));
      opened.push(connection);
      guarded(to, () => connection.setPragmas(COPY));
      guarded(from, () => {
        connection.prepare(`ATTACH ? AS ${ORIGINAL}`).run(original.connection.filename);
        connection.post('BEGIN');
        // The transaction sees from here on what is there now.
        connection.pragma(`${ORIGINAL}.user_version`);
        connection.prepare(`SELECT count(*) FROM ${ORIGINAL}.sqlite_schema`).get();
      });
      return new FileCopy(from, to, connection, original);
    } catch (error) {
      for (const one of opened.toReversed()) one.close();
      throw error;
    }
  }

  /** For queries: the copy's tables go by their names, those that they are of by `original.NAME`. */
  get db() {
    return this.#connection.db;
  }

  /** The tables that are there to be copied, or are copied already. */
  get tables(): TableShape[] {
    return tablesOf(this.#connection);
  }

  /** How many rows there are to be copied, those aside that say which migrations have run. */
  countRows(): number {
    let total = 0;
    for (const { name } of this.#tables().filter(isCounted)) {
      const count = this.#connection.prepare<{ total: number }, []>(
        `SELECT count(*) AS total FROM ${ORIGINAL}."${name}"`,
      );
      total += count.get()?.total ?? 0;
    }
    return total;
  }

  /**
   * Copies table after table; gives after each piece of work how many rows more are there.
   * @throws DatabaseError of the file that cannot be read, or written
   */
  *copyRows(): Generator<number> {
    try {
      for (const table of this.#tables()) {
        this.#connection.run(table.sql);
        for (const rows of this.#copyTable(table)) if (isCounted(table)) yield rows;
      }
    } catch (error) {
      throw this.#explained(error);
    }
  }

  /**
   * Makes indexes and triggers, and ends what was one moment of the original.
   * @throws DatabaseError as copyRows does
   */
  complete(): void {
    try {
      this.#complete();
    } catch (error) {
      throw this.#explained(error);
    }
  }

  #complete(): void {
    const rest = this.#connection.prepare<{ sql: string }, []>(
      `SELECT sql FROM ${ORIGINAL}.sqlite_schema WHERE type <> 'table' AND sql IS NOT NULL ORDER BY rowid`,
    );
    for (const { sql } of rest.all()) this.#connection.run(sql);
    tellPlanner(this.#connection);
    this.#connection.post('COMMIT');
    this.#connection.setPragmas({ application_id: APPLICATION_ID, user_version: firstMark() });
  }

  /** Closes both files; what is copied is on the disk then. */
  close(): void {
    if (this.#connection.inTransaction) this.#connection.post('ROLLBACK');
    this.#connection.close();
    this.#original.close();
    guarded(this.#path, () => syncFile(this.#path));
  }

  // Nothing is written but the copy.
  #explained(error: unknown): unknown {
    return explainFileError(isWriteFailure(error) ? this.#path : this.#from, error);
  }

  #tables(): Table[] {
    const tables = this.#connection.prepare<{ name: string; sql: string; isClustered: number }, []>(`
      SELECT s.name, s.sql, l.wr AS isClustered FROM ${ORIGINAL}.sqlite_schema AS s
      JOIN pragma_table_list AS l ON l.schema = '${ORIGINAL}' AND l.name = s.name
      WHERE s.type = 'table' AND s.name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY s.rowid
    `);
    const columns = this.#connection.prepare<{ name: string; pk: number }, [string]>(
      `SELECT name, pk FROM pragma_table_info(?, '${ORIGINAL}') ORDER BY cid`,
    );
    return tables.all().map(({ name, sql, isClustered }) => {
      const all = columns.all(name);
      const key = all.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
      const names = all.map((column) => column.name);
      if (isClustered === 1) return { name, sql, columns: names, key: key.map((column) => column.name) };
      return { name, sql, columns: ['rowid', ...names], key: ['rowid'] };
    });
  }

  *#copyTable({ name, columns, key }: Table): Generator<number> {
    const list = (names: readonly string[]) => names.map((column) => `"${column}"`).join(', ');
    const copy = (after: string) =>
      this.#connection.prepare(`
        INSERT INTO main."${name}" (${list(columns)}) SELECT ${list(columns)} FROM ${ORIGINAL}."${name}" ${after}
        ORDER BY ${list(key)} LIMIT ${ROWS_PER_STEP}
      `);
    const last = this.#connection.prepare<Record<string, string | number>, []>(
      `SELECT ${list(key)} FROM main."${name}" ORDER BY ${key.map((column) => `"${column}" DESC`).join(', ')} LIMIT 1`,
    );
    let { changes } = copy('').run();
    const next = copy(`WHERE (${list(key)}) > (${key.map(() => '?').join(', ')})`);
    while (changes > 0) {
      yield changes;
      if (changes < ROWS_PER_STEP) return;
      changes = next.run(...Object.values(last.get() ?? {})).changes;
    }
  }
}

/** Has the disk take what a file holds. */
export function syncFile(path: string): void {
  const descriptor = openSync(path, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function isCounted({ name }: Table): boolean {
  return !name.startsWith('kysely_');
}
