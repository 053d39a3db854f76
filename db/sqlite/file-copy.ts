// Copies a database file as of one moment, while it can be in use.
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { type TableShape, tablesOf } from './catalog.ts';
import { Connection } from './connection.ts';
import { explainFileError, isWriteFailure, withFileErrors } from './errors.ts';
import { createPrivately } from './file-check.ts';
import { APPLICATION_ID, firstMark } from './main-file.ts';
import { setPlannerStatistics } from './planner.ts';
import { openConnectionSnapshot } from './snapshot.ts';

/** The name of the copied database in queries to the copy. */
export const ORIGINAL = 'original';

const ROWS_PER_STEP = 5_000;

const COPY = {
  // An incomplete copy is discarded; a complete one is synced.
  journal_mode: 'memory',
  synchronous: 0,
  // KiB, if negative.
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
  /** The columns that determine the order of its rows. */
  key: string[];
}

/** A copy in progress. */
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
   * Begins a copy of what is committed now.
   * @param from a database file, in use or not
   * @param to a file that does not exist yet
   * @throws DatabaseError if either cannot be used
   */
  static open(from: string, to: string): FileCopy {
    const original = openConnectionSnapshot(from);
    const opened: Closeable[] = [original];
    try {
      // Closing a file last moves its log into it. This connection is the last one here, and must not do that.
      withFileErrors(from, () => original.connection.pragma('schema_version'));
      createPrivately(to);
      const connection = withFileErrors(to, () => new Connection(to, { byUri: 'create' }));
      opened.push(connection);
      withFileErrors(to, () => connection.setPragmas(COPY));
      withFileErrors(from, () => {
        connection.prepare(`ATTACH ? AS ${ORIGINAL}`).run(original.connection.filename);
        connection.post('BEGIN');
        // From here on, the transaction sees this moment.
        connection.pragma(`${ORIGINAL}.user_version`);
        connection.prepare(`SELECT count(*) FROM ${ORIGINAL}.sqlite_schema`).get();
      });
      return new FileCopy(from, to, connection, original);
    } catch (error) {
      for (const one of opened.toReversed()) one.close();
      throw error;
    }
  }

  /** For queries: the tables of the copy by name, those of the original as `original.NAME`. */
  get db() {
    return this.#connection.db;
  }

  /** The tables to be copied, or already copied. */
  get tables(): TableShape[] {
    return tablesOf(this.#connection);
  }

  /** Number of rows to be copied, without the list of migrations. */
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
   * Copies table after table; yields the number of rows copied after each piece of work.
   * @throws DatabaseError of the file that cannot be read or written
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
   * Creates indexes and triggers, and releases the original.
   * @throws DatabaseError as copyRows
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
    setPlannerStatistics(this.#connection);
    this.#connection.post('COMMIT');
    this.#connection.setPragmas({ application_id: APPLICATION_ID, user_version: firstMark() });
  }

  /** Closes both files; the copy is then on the disk. */
  close(): void {
    if (this.#connection.inTransaction) this.#connection.post('ROLLBACK');
    this.#connection.close();
    this.#original.close();
    withFileErrors(this.#path, () => syncFile(this.#path));
  }

  // Only the copy is written.
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

/** Syncs a file to the disk. */
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
