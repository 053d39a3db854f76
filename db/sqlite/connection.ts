// A connection to SQLite: verified pragmas, cached statements, and reads of one turn that share a snapshot.
import { constants, Database, type SQLQueryBindings, type Statement } from 'bun:sqlite';
import {
  type Compilable,
  type CompiledQuery,
  type Expression,
  Kysely,
  type QueryExecutorProvider,
  type RawBuilder,
  sql,
} from 'kysely';
import { BoundedMap } from '../cache.ts';
import { type PairColumns, type PreparedQuery, type StoredValue, takeWhile } from '../engine/engine.ts';
import type { Db, Pipelining, Schema, Trx } from '../engine/schema.ts';
import { type TransactionEngine, TransactionProgress } from '../engine/transaction.ts';
import { PreparedDialect } from './dialect.ts';
import { isDiskFailure } from './errors.ts';

const BUSY_TIMEOUT_MS = 5_000;
const STATEMENTS_MAX = 500;

// Statements that write: SQLite itself reports only statements that have run.
const WRITES = /^\s*(?:insert|update|delete|replace)\b/i;
// Statements that may change keys: those that name a table of keys and do not start with SELECT.
const CHANGES_KEYS = /^(?!\s*select\b).*\bapi_key/is;

type PreparedAs<R, P extends SQLQueryBindings | SQLQueryBindings[]> = ReturnType<
  typeof Database.prototype.prepare<R, P>
>;

const { SQLITE_OPEN_CREATE, SQLITE_OPEN_READONLY, SQLITE_OPEN_READWRITE, SQLITE_OPEN_URI } = constants;
// For a connection whose name, or an attached one's, is a URI.
const BY_URI = {
  readonly: SQLITE_OPEN_URI | SQLITE_OPEN_READONLY,
  create: SQLITE_OPEN_URI | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
};

/** How to open a file. */
export type OpenMode =
  | { readonly: true }
  | { readwrite: true; create: boolean }
  | { byUri: keyof typeof BY_URI };

/** A connection for Kysely, which prepares every statement before running it, and the engine of statements. */
export class Connection extends Database implements TransactionEngine, Pipelining {
  readonly db: Trx = Object.assign(new Kysely<Schema>({ dialect: new PreparedDialect({ database: this }) }), {
    engine: this,
  });
  readonly answersAtOnce = true;
  readonly rowVersion = sql<null>`null`;
  readonly progress = new TransactionProgress(this);
  /** Number of statements so far that could have changed keys. */
  keyChanges = 0;
  // Kysely's dialect prepares again for every execution; Bun's own query() takes 0.4 µs to find a statement again.
  readonly #kept = new BoundedMap<string, Statement>(STATEMENTS_MAX);

  constructor(path: string, mode: OpenMode) {
    super(path, 'byUri' in mode ? BY_URI[mode.byUri] : { ...mode, strict: false });
    // First, because another process could be writing right now.
    this.setPragmas({ busy_timeout: BUSY_TIMEOUT_MS });
  }

  /** Sets pragmas in order, and checks that SQLite then reports each value. */
  setPragmas(values: Readonly<Record<string, string | number>>): void {
    for (const [name, value] of Object.entries(values)) {
      this.run(`PRAGMA ${name} = ${value}`);
      const actual = this.pragma(name);
      if (actual !== value) throw new Error(`PRAGMA ${name} is ${actual}, not ${value}`);
    }
  }

  /** SQLite's value of a pragma. */
  pragma(name: string): unknown {
    using statement = super.prepare<Record<string, unknown>, []>(`PRAGMA ${name}`);
    return Object.values(statement.get() ?? {})[0];
  }

  // Kysely's way to a statement.
  override prepare<R, P extends SQLQueryBindings | SQLQueryBindings[]>(sql: string): PreparedAs<R, P> {
    if (WRITES.test(sql)) this.progress.noteWrite();
    if (CHANGES_KEYS.test(sql)) this.keyChanges += 1;
    return this.#keep(sql) as PreparedAs<R, P>;
  }

  bind<R>({ sql }: CompiledQuery<R>): PreparedQuery<R> {
    // Not cached, so that newer ones do not replace it.
    const statement = super.prepare<R, StoredValue[]>(sql);
    const isWrite = WRITES.test(sql);
    const changesKeys = CHANGES_KEYS.test(sql);
    return (values, takes) => {
      if (isWrite) this.progress.noteWrite();
      if (changesKeys) this.keyChanges += 1;
      // A single array argument is taken as the list of values, without spreading.
      const only = values as unknown as StoredValue;
      return takes === undefined ? statement.all(only) : takeWhile(statement.iterate(only), takes);
    };
  }

  limitText<R>(_: QueryExecutorProvider, query: Compilable<R>): Compilable<R> {
    return query;
  }

  post(command: string): void {
    this.#keep(command).run();
  }

  // A full or failing disk ends the whole transaction.
  endsTransaction(error: unknown): boolean {
    return !this.inTransaction || isDiskFailure(error);
  }

  insertOf(): null {
    return null;
  }

  updateOf(): null {
    return null;
  }

  isAmong(value: RawBuilder<string>, list: never): RawBuilder<boolean> {
    return sql<boolean>`${value} in (select value from json_each(${list}))`;
  }

  isAmongNumbers(value: RawBuilder<number>, list: never): RawBuilder<boolean> {
    return sql<boolean>`${value} in (select cast(value as integer) from json_each(${list}))`;
  }

  now(): RawBuilder<number> {
    return sql<number>`cast(unixepoch('subsec') * 1000 as integer)`;
  }

  isPairAmong({ first, second }: PairColumns, _: never, list: never): RawBuilder<boolean> {
    const columns = sql`(${sql.ref(first)}, ${sql.ref(second)})`;
    return sql<boolean>`${columns} in (select value ->> 0, value ->> 1 from json_each(${list}))`;
  }

  pipelined(): Db {
    return this.db;
  }

  // A plan is made for any value.
  opaque<T>(value: RawBuilder<T>): RawBuilder<T> {
    return value;
  }

  uuidBytes(text: RawBuilder<unknown>): RawBuilder<Uint8Array> {
    return sql`unhex(replace(${text}, '-', ''))`;
  }

  texts(list: never): RawBuilder<{ text: string }> {
    return sql`(select value as text from json_each(${list}))`;
  }

  bytePairs(list: never): RawBuilder<{ first: Uint8Array; second: Uint8Array }> {
    return sql`(select unhex(value ->> 0) as first, unhex(value ->> 1) as second from json_each(${list}))`;
  }

  firstRows<R>(
    list: never,
    rowsMax: number,
    query: (isText: (column: RawBuilder<string>) => RawBuilder<boolean>) => RawBuilder<R>,
  ): RawBuilder<R> {
    return sql`${query((column) => this.isAmong(column, list))} limit ${sql.lit(rowsMax)}`;
  }

  isIn(value: RawBuilder<unknown>, found: Expression<unknown>): RawBuilder<boolean> {
    return sql<boolean>`${value} in ${found}`;
  }

  #keep(sql: string): Statement {
    return this.#kept.getOrCompute(sql, () => {
      const statement = super.prepare(sql) as Statement;
      // Read for every execution, and always the same.
      return Object.defineProperty(statement, 'columnNames', { value: statement.columnNames });
    });
  }

  /** Closes it with its statements; closing the last connection moves the write-ahead log into the file. */
  override close(): void {
    super.close(true);
  }
}

/**
 * A connection that only reads. Taking and releasing SQLite's read lock costs more than most queries, so the reads of one
 * turn of the event loop share a snapshot.
 */
export class ReadConnection extends Connection {
  // Not cached, so that newer ones do not replace it.
  readonly #begin = Database.prototype.prepare.call(this, 'BEGIN');
  readonly #commit = Database.prototype.prepare.call(this, 'COMMIT');
  #isInSnapshot = false;
  // Milliseconds.
  #begunAt = 0;
  /** Called before each snapshot. */
  onSnapshot = (): void => undefined;
  /** Whether another thread has committed since the snapshot began, so that it must not answer any more reads. */
  isOutdated = (): boolean => false;

  override prepare<R, P extends SQLQueryBindings | SQLQueryBindings[]>(sql: string): PreparedAs<R, P> {
    this.enterSnapshot();
    return super.prepare(sql);
  }

  override bind<R>(query: CompiledQuery<R>): PreparedQuery<R> {
    const run = super.bind(query);
    return (values, takes) => {
      this.enterSnapshot();
      return run(values, takes);
    };
  }

  /** How long ago the snapshot began, in milliseconds; 0 if there is none. */
  snapshotAgeMs(): number {
    return this.#isInSnapshot ? performance.now() - this.#begunAt : 0;
  }

  /** Starts a snapshot for the reads of this turn, unless there is one. */
  enterSnapshot(): void {
    if (this.#isInSnapshot) {
      if (!this.isOutdated()) return;
      this.endSnapshot();
    }
    this.onSnapshot();
    this.#begin.run();
    this.#isInSnapshot = true;
    this.#begunAt = performance.now();
    setImmediate(this.endSnapshot);
  }

  /** Ends the snapshot, if there is one; the next read sees what is committed by then. */
  readonly endSnapshot = (): void => {
    if (!this.#isInSnapshot) return;
    this.#isInSnapshot = false;
    try {
      this.#commit.run();
    } catch {
      // The file was damaged during the snapshot, which has ended all the same; the next read reports the damage.
    }
  };

  override close(): void {
    this.endSnapshot();
    super.close();
  }
}
