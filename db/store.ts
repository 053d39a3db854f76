// The seam between the business and a database engine: read with Kysely, write through durable jobs.
import { Migrator } from 'kysely';
import { type Counters, MemoryCounters } from './counters.ts';
import { MIGRATIONS } from './migrations/index.ts';
import { openPostgres } from './postgres/open-store.ts';
import type { Db } from './schema.ts';
import { abandon } from './sqlite/abandon.ts';
import type { Connection } from './sqlite/connection.ts';
import { DatabaseFileError, isDiskFailure } from './sqlite/errors.ts';
import { openWriter } from './sqlite/open-store.ts';
import { tellPlanner } from './sqlite/planner.ts';
import { type StoreEvents, sqliteStore } from './sqlite/sqlite-store.ts';
import type { Scope } from './write-queue.ts';

export { DatabaseFileError, explainFileError, isUnavailable } from './sqlite/errors.ts';
export { lockForServing } from './sqlite/serving-lock.ts';
export type { Scope } from './write-queue.ts';

export interface Store {
  /** For queries; it cannot write. */
  readonly read: Db;
  /**
   * Runs the job in a transaction of its own making; resolves once it is durable, rejects with the job undone. Jobs of one
   * scope run one after another; each may be run twice, so that it does nothing but to the database.
   */
  write<T>(scope: Scope, job: (trx: Db) => Promise<T>): Promise<T>;
  /**
   * A number that changes whenever API keys may have changed, here or in another process; what is read of them once it is
   * known holds until then. Null where the engine cannot tell.
   */
  keyMark(): number | null;
  /** Counts what is limited in each minute, over all that serve the database. */
  readonly counters: Counters;
  /** Resolves if the database can be read and written now, else rejects with what keeps it from that. */
  ready(): Promise<void>;
  /**
   * Finishes the queued jobs and closes every connection.
   * @throws the engine's error if what was written cannot be brought where it belongs
   */
  close(): Promise<void>;
}

export interface StoreOptions extends StoreEvents {
  /** Whether a missing file is made; true unless said otherwise. */
  create?: boolean;
  /** Tells the minutes that are counted by, Unix milliseconds; the clock of whoever keeps the counts unless given. */
  clock?: () => number;
}

/**
 * Opens the SQLite store at `path` and brings its schema up to date.
 * @throws DatabaseFileError if the file cannot be used or was written by a newer crm.
 */
export async function openStore(path: string, options: StoreOptions = {}): Promise<Store> {
  if (/^postgres(?:ql)?:/.test(path)) return openPostgres(path, options.clock);
  const { writer, held } = openWriter(path, options.create ?? true);
  try {
    await migrate(writer, path);
    return { ...sqliteStore(writer, held, options), counters: new MemoryCounters(options.clock ?? Date.now) };
  } catch (error) {
    if (isDiskFailure(error)) abandon(writer);
    else {
      writer.close();
      held.release();
    }
    throw error;
  }
}

async function migrate(writer: Connection, path: string): Promise<void> {
  // The write lock, taken before looking, makes two processes that start at once take turns.
  writer.run('BEGIN IMMEDIATE');
  try {
    await assertKnownMigrations(writer.db, path);
    const migrator = new Migrator({ db: writer.db, provider: { getMigrations: async () => MIGRATIONS } });
    const { error, results = [] } = await migrator.migrateToLatest();
    if (error !== undefined) throw error;
    if (results.length > 0) tellPlanner(writer);
    writer.run('COMMIT');
  } catch (error) {
    if (writer.inTransaction) writer.run('ROLLBACK');
    throw error;
  }
}

async function assertKnownMigrations(db: Db, path: string): Promise<void> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some((table) => table.name === 'kysely_migration')) return;
  const applied = await db
    .selectFrom('kysely_migration' as 'settings')
    .select('name')
    .execute();
  const unknown = applied.find((row) => MIGRATIONS[row.name] === undefined);
  if (unknown === undefined) return;
  throw new DatabaseFileError(`${path} was written by a newer crm (it has the migration ${unknown.name}).`, [
    'Use the newer crm with it, or restore a backup made before the upgrade.',
  ]);
}
