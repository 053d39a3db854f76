// The seam between the service and a database engine: read with Kysely, write through durable jobs.

import type { Counters } from './counters/counters.ts';
import { MemoryCounters } from './counters/memory-counters.ts';
import { CommitCount, type SharedMemory } from './counters/shared-memory.ts';
import { isDatabaseAddress } from './database-address.ts';
import { DatabaseError } from './database-error.ts';
import type { ChangeSignals } from './engine/change-signals.ts';
import { assertCopyComplete } from './engine/copy-marker.ts';
import type { Db, Trx } from './engine/schema.ts';
import { assertReadable, type DatabaseSnapshot } from './engine/snapshot.ts';
import type { StoreStats } from './engine/store-stats.ts';
import type { Scope } from './engine/write-queue.ts';
import { parseAddress, shownAddress } from './postgres/address.ts';
import { analyzeTables, findCrmConnections } from './postgres/crm-connections.ts';
import { explainStatement, isUnreachable } from './postgres/errors.ts';
import { openPostgres } from './postgres/open-store.ts';
import { openPostgresSnapshot, postgresIdentity } from './postgres/snapshot.ts';
import { explainFileError, isDiskFailure, isUnavailable } from './sqlite/errors.ts';
import { inspectFile } from './sqlite/integrity.ts';
import type { LockHolder } from './sqlite/lock-holder.ts';
import { migrateFile, pendingMigrations } from './sqlite/migrate.ts';
import { openWriter } from './sqlite/open-store.ts';
import { inodeAt } from './sqlite/raw-file.ts';
import { lockFile } from './sqlite/serving-lock.ts';
import { openFileSnapshot } from './sqlite/snapshot.ts';
import { type StoreEvents, sqliteStore } from './sqlite/sqlite-store.ts';
import { threadStore } from './sqlite/thread-store.ts';
import { leaveOpen } from './sqlite/unclosed-connections.ts';

export { DatabaseAddressError, DatabaseError } from './database-error.ts';
export type { DatabaseSnapshot } from './engine/snapshot.ts';
export type { Scope } from './engine/write-queue.ts';
export { hasPassword } from './postgres/address.ts';
export { ServedAlreadyError, type ServingProcess, servingProcess } from './sqlite/serving-lock.ts';

/** What requests are answered from. */
export interface ReadStore {
  /** For queries; read-only. */
  readonly read: Db;
  /**
   * A number that changes whenever API keys could have changed, here or in another process; keys read after the number was
   * known stay valid while it is the same. Null if the engine cannot tell. Call it when a request begins: its reads see what
   * was committed a millisecond before.
   */
  keyVersion(): number | null;
  /** Lets the next read see what is committed by then; the reads of a turn otherwise share a snapshot. */
  endSnapshot(): void;
  /** For waiting until an organization has further changes. */
  readonly signals: ChangeSignals;
  /** Per-minute counts for limits, shared by all processes that serve the database. */
  readonly counters: Counters;
  /** Maximum time that a client waits for a response, and the error after that; null if the engine is never silent. */
  readonly deadline: ResponseDeadline | null;
  /** Resolves if the database can be read and written now; otherwise rejects with the reason. */
  ready(): Promise<void>;
}

export interface Store extends ReadStore {
  /**
   * Runs the job in its own transaction; resolves once it is durable, rejects after undoing it. Jobs of one scope run one
   * after another. A job can run twice, so it must have no effects outside the database.
   */
  write<T>(scope: Scope, job: (trx: Trx) => Promise<T>): Promise<T>;
  /** Whether requests can be answered elsewhere too: by other processes, or other threads of this one. */
  readonly isShared: boolean;
  /** Runs a job in only one process at a time, among all that serve the database; skips it while another runs it. */
  alone(job: () => Promise<void>): Promise<void>;
  /** Figures for monitoring; takes at most a few seconds. */
  stats(): Promise<StoreStats>;
  /**
   * Finishes the queued jobs and closes every connection.
   * @throws the engine's error if data cannot be written to its final place
   */
  close(): Promise<void>;
}

export interface ResponseDeadline {
  ms: number;
  tooLate(): Error;
}

export interface StoreOptions extends StoreEvents {
  /** Whether a missing file is created, and an empty database gets its tables; true by default. */
  create?: boolean;
  /** The clock for counting minutes, in Unix milliseconds; by default that of the process or server with the counts. */
  clock?: () => number;
  /** Called when a database server cannot be reached or must not be served, and with null once that is over. */
  onUnready?: (trouble: DatabaseError | null) => void;
  /** Receives warnings for the operator. */
  onWarning?: (warning: string) => void;
  /** Called before the schema of an existing file is updated, with the migrations that it lacks. */
  beforeMigrations?: (names: readonly string[]) => Promise<void>;
  /** Whether an incomplete copy of another database is accepted; by default it is rejected. */
  isBeingFilled?: boolean;
}

/**
 * Opens the store in the database at that URL or in that file, and updates its schema.
 * @throws DatabaseError if it cannot be used or was written by a newer crm; DatabaseAddressError if the URL is not valid.
 */
export async function openStore(db: string, options: StoreOptions = {}): Promise<Store> {
  const store = isDatabaseAddress(db) ? await openPostgres(db, options) : await openFile(db, options);
  if (options.isBeingFilled === true) return store;
  return checked(store, () => assertCopyComplete(store.read, databaseLabel(db)));
}

/**
 * Opens a database for reading its current state, whatever is written later; writes nothing.
 * @throws DatabaseError if it cannot be used or another crm wrote it; DatabaseAddressError if the URL is not valid.
 */
export async function openSnapshot(
  db: string,
  onWarning?: (warning: string) => void,
): Promise<DatabaseSnapshot> {
  const snapshot = isDatabaseAddress(db) ? await openPostgresSnapshot(db, onWarning) : openFileSnapshot(db);
  return checked(snapshot, () => assertReadable(snapshot.read, databaseLabel(db)));
}

/** Identifies a database, whatever name it is reached by; '' for a missing file. */
export async function databaseIdentity(db: string): Promise<string> {
  return isDatabaseAddress(db) ? postgresIdentity(db) : inodeAt(db);
}

async function checked<T extends { close(): Promise<void> }>(
  opened: T,
  check: () => Promise<void>,
): Promise<T> {
  try {
    await check();
    return opened;
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function openFile(path: string, options: StoreOptions): Promise<Store> {
  const { writer, held } = openWriter(path, options.create ?? true);
  try {
    const pending = await pendingMigrations(writer.db, path);
    if (pending.length > 0) await options.beforeMigrations?.(pending);
    await migrateFile(writer, path);
    return { ...sqliteStore(writer, held, options), counters: countersOf(options) };
  } catch (error) {
    if (isDiskFailure(error)) leaveOpen(writer);
    else {
      writer.close();
      held.release();
    }
    throw error;
  }
}

/**
 * Opens a file for a thread, in addition to the thread that writes and shares its memory.
 * @param given how the other thread tells whether it can write, and when there are changes
 */
export function openThreadStore(
  path: string,
  common: SharedMemory,
  { clock, ...given }: Pick<StoreOptions, 'clock'> & Pick<ReadStore, 'ready' | 'signals'>,
): ReadStore & { close(): void } {
  const counters = countersOf({ common, ...(clock && { clock }) });
  return { ...threadStore(path, new CommitCount(common)), counters, ...given };
}

function countersOf({ clock = Date.now, common }: Pick<StoreOptions, 'clock' | 'common'>): Counters {
  return new MemoryCounters(clock, common?.counts);
}

/**
 * The migrations that opening an existing database will run; none for a new one, or for PostgreSQL.
 * @throws DatabaseError if it cannot be used or was written by a newer crm
 */
export async function pendingMigrationsOf(db: string): Promise<string[]> {
  if (isDatabaseAddress(db)) return [];
  const file = inspectFile(db);
  try {
    return await pendingMigrations(file.read, db);
  } finally {
    await file.close();
  }
}

/**
 * Takes the lock that allows one server per database file; a database server can have any number.
 * @returns a function that releases the lock
 * @throws DatabaseError with the holder if another server has it, or with the reason why the file cannot be used
 */
export function lockForServing(db: string, holder: LockHolder): () => void {
  return isDatabaseAddress(db) ? () => undefined : lockFile(db, holder);
}

/** The hosts on which crm uses a database server; for a file, its lock tells. */
export async function connectedProcesses(db: string): Promise<string[]> {
  return isDatabaseAddress(db) ? findCrmConnections(db) : [];
}

/** Lets a filled database update its statistics, if its engine plans with them. */
export async function analyzeDatabase(db: string): Promise<void> {
  if (isDatabaseAddress(db)) await analyzeTables(db);
}

/** A database as it can be shown anywhere: a URL without its password, or the path of a file. */
export function databaseLabel(db: string): string {
  return isDatabaseAddress(db) ? shownAddress(db) : db;
}

/** Explains a database error to the operator; other errors are returned unchanged. */
export function explainDatabaseError(db: string, error: unknown): unknown {
  if (error instanceof DatabaseError) return error;
  return isDatabaseAddress(db) ? explainStatement(parseAddress(db), error) : explainFileError(db, error);
}

// A server usually recovers faster than a disk.
const SERVER_RETRY_SECONDS = 1;
const FILE_RETRY_SECONDS = 5;

/**
 * Seconds after which to retry what failed because the database cannot be reached or written right now; null for any other
 * error.
 */
export function retryAfterSeconds(error: unknown): number | null {
  if (isUnreachable(error)) return SERVER_RETRY_SECONDS;
  return isUnavailable(error) ? FILE_RETRY_SECONDS : null;
}
