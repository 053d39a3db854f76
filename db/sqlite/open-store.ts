// Opens SQLite: pragmas in order and asserted, one writer connection, and read-only readers.
import { Database } from 'bun:sqlite';
import { accessSync, closeSync, existsSync, constants as fsConstants, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Kysely } from 'kysely';
import { BunSqliteDialect } from 'kysely-bun-sqlite';
import type { Db, Schema } from '../schema.ts';

/** "CRM1", so that another program's database is told from ours before anything is written. */
const APPLICATION_ID = 0x43524d31;
const BUSY_TIMEOUT_MS = 5_000;
const WAL_SIZE_LIMIT_BYTES = 64 * 1024 * 1024;

/** A database file that cannot be used, said for the operator, with the next steps to take. */
export class DatabaseFileError extends Error {
  readonly nextSteps: string[];
  constructor(message: string, nextSteps: string[], cause?: unknown) {
    super(message, { cause });
    this.name = 'DatabaseFileError';
    this.nextSteps = nextSteps;
  }
}

export interface Connection {
  readonly raw: Database;
  readonly db: Db;
  /** Ends the snapshot that reads share, if one is open; the next read sees what is committed by then. */
  endSnapshot(): void;
  /** Closes it; the last one to close folds the write-ahead log into the file. */
  close(): void;
}

/**
 * Opens the connection that writes.
 * @throws DatabaseFileError if the file is missing and not to be created, unwritable, or no database of crm.
 */
export function openWriter(path: string, create: boolean): Connection {
  assertUsablePath(path, create);
  createPrivately(path);
  const raw = guarded(path, () => new Database(path, { readwrite: true, create, strict: false }));
  guarded(path, () => {
    raw.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    claimFile(raw, path);
    raw.run('PRAGMA journal_mode = WAL');
    raw.run('PRAGMA synchronous = FULL');
    raw.run('PRAGMA foreign_keys = ON');
    raw.run(`PRAGMA journal_size_limit = ${WAL_SIZE_LIMIT_BYTES}`);
    raw.run('PRAGMA cache_size = -65536');
    raw.run('PRAGMA temp_store = MEMORY');
    assertPragmas(raw, {
      journal_mode: 'wal',
      synchronous: 2,
      foreign_keys: 1,
      busy_timeout: BUSY_TIMEOUT_MS,
    });
  });
  return connect(raw);
}

/** Opens a connection that can only read. */
export function openReader(path: string): Connection {
  const raw = guarded(path, () => new Database(path, { readonly: true, strict: false }));
  raw.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  raw.run('PRAGMA query_only = ON');
  raw.run('PRAGMA cache_size = -65536');
  raw.run('PRAGMA mmap_size = 268435456');
  assertPragmas(raw, { query_only: 1, busy_timeout: BUSY_TIMEOUT_MS });
  return connect(raw, shareSnapshot);
}

function connect(raw: Database, share: (raw: Database) => () => void = () => () => undefined): Connection {
  const kept = keepStatements(raw);
  const endSnapshot = share(raw);
  const close = () => {
    endSnapshot();
    // SQLite keeps a connection open for as long as it has statements.
    for (const statement of kept.values()) statement.finalize();
    raw.close();
  };
  const db: Db = new Kysely<Schema>({ dialect: new BunSqliteDialect({ database: raw }) });
  return { raw, db, endSnapshot, close };
}

// Taking and giving back SQLite's read lock costs more than most queries do, so the reads of one turn of the event loop
// share a snapshot. It never outlives the turn, and a commit of our own ends it at once.
function shareSnapshot(raw: Database): () => void {
  const prepare = raw.prepare.bind(raw);
  // Not among the statements that give way to newer ones; Bun ends its own with the connection.
  const begin = raw.query('BEGIN');
  const commit = raw.query('COMMIT');
  let isOpen = false;
  const end = () => {
    if (!isOpen) return;
    isOpen = false;
    commit.run();
  };
  raw.prepare = ((sql: string) => {
    if (!isOpen) {
      begin.run();
      isOpen = true;
      setImmediate(end);
    }
    return prepare(sql);
  }) as typeof raw.prepare;
  return end;
}

type KeptStatements = Map<string, ReturnType<Database['prepare']>>;

// What it holds is about people: nobody but its owner reads it. SQLite gives its other files the same mode.
function createPrivately(path: string): void {
  if (existsSync(path)) return;
  try {
    closeSync(openSync(path, 'a', 0o600));
  } catch (error) {
    throw notWritable(path, error);
  }
}

const STATEMENTS_MAX = 500;

// kysely-bun-sqlite prepares every statement anew, and Bun's own query() keeps only 20 of them.
function keepStatements(raw: Database): KeptStatements {
  const kept: KeptStatements = new Map();
  const prepare = raw.prepare.bind(raw);
  raw.prepare = ((sql: string) => {
    let statement = kept.get(sql);
    if (statement === undefined) {
      statement = prepare(sql);
      // Asked for at every execution, and the same every time.
      Object.defineProperty(statement, 'columnNames', { value: statement.columnNames });
      if (kept.size >= STATEMENTS_MAX) evictOldest(kept);
      kept.set(sql, statement);
    }
    return statement;
  }) as typeof raw.prepare;
  return kept;
}

function evictOldest(kept: KeptStatements): void {
  for (const [sql, statement] of kept) {
    kept.delete(sql);
    statement.finalize();
    return;
  }
}

function assertUsablePath(path: string, create: boolean): void {
  const folder = dirname(resolve(path));
  if (existsSync(path)) {
    if (!statSync(path).isFile()) {
      throw new DatabaseFileError(`${path} is not a file.`, ['Name a database file with --db PATH.']);
    }
    assertWritable(path);
    return;
  }
  if (!create) {
    throw new DatabaseFileError(`There is no database at ${path}.`, [
      'Make one: crm init --org NAME',
      'Or name another file with --db PATH (or CRM_DB).',
    ]);
  }
  try {
    accessSync(folder, fsConstants.W_OK | fsConstants.X_OK);
  } catch (cause) {
    const steps = ['Make the folder, or give the user who runs crm the right to write in it.'];
    throw new DatabaseFileError(
      `The database ${path} cannot be made: its folder is not writable.`,
      steps,
      cause,
    );
  }
}

// SQLite opens a file that it may not write for reading, and says so at the first write only.
function assertWritable(path: string): void {
  try {
    accessSync(path, fsConstants.R_OK | fsConstants.W_OK);
  } catch (error) {
    throw notWritable(path, error);
  }
}

// A new, empty file becomes ours; anything else must be ours already.
function claimFile(raw: Database, path: string): void {
  const id = pragma(raw, 'application_id');
  if (id === APPLICATION_ID) return;
  const tables = raw.query('SELECT count(*) AS n FROM sqlite_schema').get() as { n: number };
  if (tables.n > 0 || id !== 0) {
    throw new DatabaseFileError(`${path} is an SQLite database of another program.`, [
      'Name a database of crm, or a new file, with --db PATH.',
    ]);
  }
  raw.run(`PRAGMA application_id = ${APPLICATION_ID}`);
}

function assertPragmas(raw: Database, expected: Record<string, string | number>): void {
  for (const [name, value] of Object.entries(expected)) {
    const actual = pragma(raw, name);
    if (actual !== value) throw new Error(`PRAGMA ${name} is ${actual}, not ${value}`);
  }
}

function pragma(raw: Database, name: string): unknown {
  const row = raw.query(`PRAGMA ${name}`).get() as Record<string, unknown> | null;
  return row === null ? null : Object.values(row)[0];
}

/** Runs what opens a file, and explains why it could not be opened. */
export function guarded<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw explainOpenError(path, error);
  }
}

/** Says for the operator why a database file could not be opened; other errors as they are. */
export function explainOpenError(path: string, error: unknown): unknown {
  const code = sqliteCode(error);
  if (code === 'SQLITE_NOTADB') {
    return new DatabaseFileError(
      `${path} is not an SQLite database.`,
      ['Name another file with --db PATH.'],
      error,
    );
  }
  if (code.startsWith('SQLITE_CANTOPEN') || code.startsWith('SQLITE_READONLY') || code === 'SQLITE_PERM') {
    return notWritable(path, error);
  }
  if (code === 'SQLITE_FULL') {
    const steps = ['Free some space on the disk that holds the database, then start again.'];
    return new DatabaseFileError(`There is no space left for the database ${path}.`, steps, error);
  }
  if (code.startsWith('SQLITE_BUSY')) {
    const steps = ['Wait for the other program that is writing to it, then try again.'];
    return new DatabaseFileError(`The database ${path} is busy.`, steps, error);
  }
  if (code.startsWith('SQLITE_CORRUPT') || code.startsWith('SQLITE_IOERR')) {
    const steps = ['Restore the newest backup of the file.', 'Check the disk for faults.'];
    return new DatabaseFileError(
      `The database ${path} is damaged or its disk fails (${code}).`,
      steps,
      error,
    );
  }
  return error;
}

function notWritable(path: string, cause: unknown): DatabaseFileError {
  const steps = ['Give the user who runs crm the right to write the file and its folder, or use --db PATH.'];
  return new DatabaseFileError(`The database ${path} cannot be opened for writing.`, steps, cause);
}

/** The name of SQLite's result code that an error carries, '' if it carries none. */
export function sqliteCode(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return String(error.code).startsWith('SQLITE_') ? String(error.code) : '';
}

/** Whether the disk failed under a statement, after which nothing the connection says can be trusted. */
export function isDiskFailure(error: unknown): boolean {
  const code = sqliteCode(error);
  return code.startsWith('SQLITE_IOERR') || code.startsWith('SQLITE_CORRUPT');
}
