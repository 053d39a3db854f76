// A connection to SQLite: pragmas that are sure to hold, statements that are kept, and reads of one turn that see one moment.
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
import { type Bound, type Engine, noProgress, type StoredValue, taken } from '../engine/engine.ts';
import type { Db, Schema } from '../engine/schema.ts';
import { SteadyDialect } from './dialect.ts';

const BUSY_TIMEOUT_MS = 5_000;
const STATEMENTS_MAX = 500;

// What writes: SQLite itself tells only of statements that have run.
const WRITES = /^\s*(?:insert|update|delete|replace)\b/i;
// What may change keys: whatever names their tables and does not only read, so that nobody has to think of it.
const CHANGES_KEYS = /^(?!\s*select\b).*\bapi_key/is;

type PreparedAs<R, P extends SQLQueryBindings | SQLQueryBindings[]> = ReturnType<
  typeof Database.prototype.prepare<R, P>
>;

const { SQLITE_OPEN_CREATE, SQLITE_OPEN_READONLY, SQLITE_OPEN_READWRITE, SQLITE_OPEN_URI } = constants;
// Where its name, or that of one that is attached, is a URI.
const BY_URI = {
  readonly: SQLITE_OPEN_URI | SQLITE_OPEN_READONLY,
  create: SQLITE_OPEN_URI | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
};

/** How a file is opened. */
export type OpenMode =
  | { readonly: true }
  | { readwrite: true; create: boolean }
  | { byUri: keyof typeof BY_URI };

/** A connection, the same for Kysely, which prepares every statement before it runs it, and the engine of statements. */
export class Connection extends Database implements Engine {
  readonly db: Db = Object.assign(new Kysely<Schema>({ dialect: new SteadyDialect({ database: this }) }), {
    engine: this,
  });
  readonly progress = noProgress();
  /** How many statements may have changed keys so far. */
  keyChanges = 0;
  // Kysely's dialect prepares anew at every execution; Bun's own query() takes 0.4 µs to find a statement again.
  readonly #kept = new Map<string, Statement>();

  constructor(path: string, mode: OpenMode) {
    super(path, 'byUri' in mode ? BY_URI[mode.byUri] : { ...mode, strict: false });
    // Before anything is asked: another process may be writing just now.
    this.setPragmas({ busy_timeout: BUSY_TIMEOUT_MS });
  }

  /** Sets pragmas in order, each to the value that SQLite then tells of it; it may not refuse any. */
  setPragmas(values: Readonly<Record<string, string | number>>): void {
    for (const [name, value] of Object.entries(values)) {
      this.run(`PRAGMA ${name} = ${value}`);
      const actual = this.pragma(name);
      if (actual !== value) throw new Error(`PRAGMA ${name} is ${actual}, not ${value}`);
    }
  }

  /** What SQLite tells of a pragma. */
  pragma(name: string): unknown {
    using statement = super.prepare<Record<string, unknown>, []>(`PRAGMA ${name}`);
    return Object.values(statement.get() ?? {})[0];
  }

  // Kysely's way to a statement.
  override prepare<R, P extends SQLQueryBindings | SQLQueryBindings[]>(sql: string): PreparedAs<R, P> {
    if (WRITES.test(sql)) this.progress.writes += 1;
    if (CHANGES_KEYS.test(sql)) this.keyChanges += 1;
    return this.#keep(sql) as PreparedAs<R, P>;
  }

  bind<R>({ sql }: CompiledQuery<R>): Bound<R> {
    // Not among the statements that give way to newer ones.
    const statement = super.prepare<R, StoredValue[]>(sql);
    const isWrite = WRITES.test(sql);
    const changesKeys = CHANGES_KEYS.test(sql);
    return (values, takes) => {
      if (isWrite) this.progress.writes += 1;
      if (changesKeys) this.keyChanges += 1;
      // An array that is the only argument is taken for the values: nothing is spread.
      const only = values as unknown as StoredValue;
      return takes === undefined ? statement.all(only) : taken(statement.iterate(only), takes);
    };
  }

  within<R>(_: QueryExecutorProvider, query: Compilable<R>): Compilable<R> {
    return query;
  }

  post(command: string): void {
    this.#keep(command).run();
  }

  insertOf(): null {
    return null;
  }

  isAmong(value: RawBuilder<string>, list: never): RawBuilder<boolean> {
    return sql<boolean>`${value} in (select value from json_each(${list}))`;
  }

  isIn(value: RawBuilder<string>, found: Expression<unknown>): RawBuilder<boolean> {
    return sql<boolean>`${value} in ${found}`;
  }

  #keep(sql: string): Statement {
    let statement = this.#kept.get(sql);
    if (statement === undefined) {
      statement = super.prepare(sql) as Statement;
      // Asked for at every execution, and the same every time.
      Object.defineProperty(statement, 'columnNames', { value: statement.columnNames });
      if (this.#kept.size >= STATEMENTS_MAX) this.#dropOldest();
      this.#kept.set(sql, statement);
    }
    return statement;
  }

  #dropOldest(): void {
    for (const [sql, statement] of this.#kept) {
      this.#kept.delete(sql);
      statement.finalize();
      return;
    }
  }

  /** Closes it with its statements; the last one to close folds the write-ahead log into the file. */
  override close(): void {
    super.close(true);
  }
}

/**
 * A connection that only reads. Taking and giving back SQLite's read lock costs more than most queries do, so the reads
 * of one turn of the event loop share a snapshot.
 */
export class ReadConnection extends Connection {
  // Not among the statements that give way to newer ones.
  readonly #begin = Database.prototype.prepare.call(this, 'BEGIN');
  readonly #commit = Database.prototype.prepare.call(this, 'COMMIT');
  #isInSnapshot = false;
  /** Called before each snapshot. */
  onSnapshot = (): void => undefined;
  /** Whether another thread has committed since the snapshot began, so that nobody may be answered from it any more. */
  isOutdated = (): boolean => false;

  override prepare<R, P extends SQLQueryBindings | SQLQueryBindings[]>(sql: string): PreparedAs<R, P> {
    this.enterSnapshot();
    return super.prepare(sql);
  }

  override bind<R>(query: CompiledQuery<R>): Bound<R> {
    const run = super.bind(query);
    return (values, takes) => {
      this.enterSnapshot();
      return run(values, takes);
    };
  }

  /** Has the reads of this turn share a snapshot, if they do not yet. */
  enterSnapshot(): void {
    if (this.#isInSnapshot) {
      if (!this.isOutdated()) return;
      this.endSnapshot();
    }
    this.onSnapshot();
    this.#begin.run();
    this.#isInSnapshot = true;
    setImmediate(this.endSnapshot);
  }

  /** Ends the snapshot, if one is open; the next read sees what is committed by then. */
  readonly endSnapshot = (): void => {
    if (!this.#isInSnapshot) return;
    this.#isInSnapshot = false;
    this.#commit.run();
  };

  override close(): void {
    this.endSnapshot();
    super.close();
  }
}
