// The seam between the business and a database engine: read with Kysely, write through durable jobs.

import type { Counters } from './counters/counters.ts';
import { MemoryCounters } from './counters/memory-counters.ts';
import { CommitCount, type CommonMemory } from './counters/shared-memory.ts';
import { isAddress } from './database-address.ts';
import { DatabaseError } from './database-error.ts';
import { assertWhole } from './engine/copy-marker.ts';
import type { Db } from './engine/schema.ts';
import { assertReadable, type DatabaseSnapshot } from './engine/snapshot.ts';
import type { StoreFigures } from './engine/store-stats.ts';
import type { Scope } from './engine/write-queue.ts';
import { parseAddress, shownAddress } from './postgres/address.ts';
import { analyze, findUsers } from './postgres/crm-connections.ts';
import { explainStatement, isUnreachable } from './postgres/errors.ts';
import { openPostgres } from './postgres/open-store.ts';
import { openPostgresSnapshot, postgresIdentity } from './postgres/snapshot.ts';
import { explainFileError, isDiskFailure, isUnavailable } from './sqlite/errors.ts';
import { inspectFile } from './sqlite/integrity.ts';
import type { LockHolder } from './sqlite/lock-holder.ts';
import { migrateFile, pendingMigrations } from './sqlite/migrate.ts';
import { openWriter } from './sqlite/open-store.ts';
import { lockFile } from './sqlite/serving-lock.ts';
import { fileIdentity, openFileSnapshot } from './sqlite/snapshot.ts';
import { type StoreEvents, sqliteStore } from './sqlite/sqlite-store.ts';
import { threadStore } from './sqlite/thread-store.ts';
import { abandon } from './sqlite/unclosed-connections.ts';

export { DatabaseAddressError, DatabaseError } from './database-error.ts';
export type { DatabaseSnapshot } from './engine/snapshot.ts';
export type { Scope } from './engine/write-queue.ts';
export { hasPassword } from './postgres/address.ts';
export { whyOnlyReadable } from './sqlite/read-only-file.ts';
export { lockPlace, ServedAlreadyError, type ServingProcess, servingProcess } from './sqlite/serving-lock.ts';

/** What requests are answered from. */
export interface ReadStore {
  /** For queries; it cannot write. */
  readonly read: Db;
  /**
   * A number that changes whenever API keys may have changed, here or in another process; what is read of them once it is
   * known holds until then. Null where the engine cannot tell.
   */
  keyMark(): number | null;
  /** Counts what is limited in each minute, over all that serve the database. */
  readonly counters: Counters;
  /** How long a client waits for an answer at most, and what it is told then; null where the engine never keeps silent. */
  readonly patience: Patience | null;
  /** Resolves if the database can be read and written now, else rejects with what keeps it from that. */
  ready(): Promise<void>;
}

export interface Store extends ReadStore {
  /**
   * Runs the job in a transaction of its own making; resolves once it is durable, rejects with the job undone. Jobs of one
   * scope run one after another; each may be run twice, so that it does nothing but to the database.
   */
  write<T>(scope: Scope, job: (trx: Db) => Promise<T>): Promise<T>;
  /** Whether requests may be answered elsewhere too: by other processes, or other threads of this one. */
  readonly isShared: boolean;
  /** Runs a job that one process at a time does, of all that serve the database; not at all while another is at it. */
  alone(job: () => Promise<void>): Promise<void>;
  /** What it can tell of itself, for whoever watches over it; it takes no longer than a few seconds. */
  figures(): Promise<StoreFigures>;
  /**
   * Finishes the queued jobs and closes every connection.
   * @throws the engine's error if what was written cannot be brought where it belongs
   */
  close(): Promise<void>;
}

export interface Patience {
  ms: number;
  tooLate(): Error;
}

export interface StoreOptions extends StoreEvents {
  /** Whether a missing file is made, and an empty database gets its tables; true unless said otherwise. */
  create?: boolean;
  /** Tells the minutes that are counted by, Unix milliseconds; the clock of whoever keeps the counts unless given. */
  clock?: () => number;
  /** Called when the database at an address cannot be reached, or must not be served, and with null once that is over. */
  onUnready?: (trouble: DatabaseError | null) => void;
  /** Takes what the operator should know, and nothing depends on. */
  onWarning?: (warning: string) => void;
  /** Called before the tables of a file that is in use are brought up to date, with the migrations that it lacks. */
  beforeMigrations?: (names: readonly string[]) => Promise<void>;
  /** Whether it may be one that is being filled with a copy of another; such a one is refused unless said otherwise. */
  isBeingFilled?: boolean;
}

/**
 * Opens the store in the database of that address, or in that file, and brings its schema up to date.
 * @throws DatabaseError if it cannot be used or was written by a newer crm; DatabaseAddressError if it cannot be meant.
 */
export async function openStore(db: string, options: StoreOptions = {}): Promise<Store> {
  const store = isAddress(db) ? await openPostgres(db, options) : await openFile(db, options);
  if (options.isBeingFilled === true) return store;
  return checked(store, () => assertWhole(store.read, shownDatabase(db)));
}

/**
 * Opens a database to be read as it is now, whatever is written meanwhile; nothing is written to it.
 * @throws DatabaseError if it cannot be used or another crm wrote it; DatabaseAddressError if it cannot be meant.
 */
export async function openSnapshot(
  db: string,
  onWarning?: (warning: string) => void,
): Promise<DatabaseSnapshot> {
  const snapshot = isAddress(db) ? await openPostgresSnapshot(db, onWarning) : openFileSnapshot(db);
  return checked(snapshot, () => assertReadable(snapshot.read, shownDatabase(db)));
}

/** What tells a database from every other, whatever it is called; '' for a file that is not there. */
export async function databaseIdentity(db: string): Promise<string> {
  return isAddress(db) ? postgresIdentity(db) : fileIdentity(db);
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
    if (isDiskFailure(error)) abandon(writer);
    else {
      writer.close();
      held.release();
    }
    throw error;
  }
}

/**
 * Opens a file for a thread beside the one that has it open to write, and by that was given memory in common with it.
 * @param ready tells whether the other thread can write
 */
export function openThreadStore(
  path: string,
  common: CommonMemory,
  { clock, ready }: Pick<StoreOptions, 'clock'> & Pick<ReadStore, 'ready'>,
): ReadStore & { close(): void } {
  const counters = countersOf({ common, ...(clock && { clock }) });
  return { ...threadStore(path, new CommitCount(common)), counters, ready };
}

function countersOf({ clock = Date.now, common }: Pick<StoreOptions, 'clock' | 'common'>): Counters {
  return new MemoryCounters(clock, common?.counts);
}

/**
 * The migrations that a database in use lacks, and that opening it makes; none of one that is new, or of PostgreSQL.
 * @throws DatabaseError if it cannot be used or was written by a newer crm
 */
export async function migrationsToCome(db: string): Promise<string[]> {
  if (isAddress(db)) return [];
  const file = inspectFile(db);
  try {
    return await pendingMigrations(file.read, db);
  } finally {
    await file.close();
  }
}

/**
 * Takes the lock that lets one server run per database file; any number may serve what is named by an address.
 * @returns a function that gives the lock back
 * @throws DatabaseError that names the holder, if another server has it, or says why the file cannot be used
 */
export function lockForServing(db: string, holder: LockHolder): () => void {
  return isAddress(db) ? () => undefined : lockFile(db, holder);
}

/** From where crm is at a database that any number may use at once; of a file its lock tells. */
export async function databaseUsers(db: string): Promise<string[]> {
  return isAddress(db) ? findUsers(db) : [];
}

/** Has a database that was filled take note of what it holds, where its engine plans by that. */
export async function noteContents(db: string): Promise<void> {
  if (isAddress(db)) await analyze(db);
}

/** A database as it may be shown, wherever that is: an address without its password, or the path of a file. */
export function shownDatabase(db: string): string {
  return isAddress(db) ? shownAddress(db) : db;
}

/** Says for the operator what is wrong with a database; an error about something else comes back as it is. */
export function explainDatabaseError(db: string, error: unknown): unknown {
  if (error instanceof DatabaseError) return error;
  return isAddress(db) ? explainStatement(parseAddress(db), error) : explainFileError(db, error);
}

// A server is back sooner than a disk.
const SERVER_RETRY_SECONDS = 1;
const FILE_RETRY_SECONDS = 5;

/**
 * After how many seconds to try again what failed because the database cannot be reached or written for now; null where it
 * failed for another reason.
 */
export function retryAfterSeconds(error: unknown): number | null {
  if (isUnreachable(error)) return SERVER_RETRY_SECONDS;
  return isUnavailable(error) ? FILE_RETRY_SECONDS : null;
}
