// The seam between the business and a database engine: read with Kysely, write through durable jobs.
import { Migrator } from 'kysely';
import { MIGRATIONS } from './migrations/index.ts';
import type { Db } from './schema.ts';
import type { Connection } from './sqlite/connection.ts';
import { DatabaseFileError } from './sqlite/errors.ts';
import { openReader, openWriter } from './sqlite/open-store.ts';
import { WriteQueue } from './sqlite/write-queue.ts';

export { DatabaseFileError, explainFileError } from './sqlite/errors.ts';
export { lockForServing } from './sqlite/serving-lock.ts';

export interface Store {
  /** For queries; it cannot write. */
  readonly read: Db;
  /** Runs the job in a transaction of its own making; resolves once it is durable, rejects with the job undone. */
  write<T>(job: (trx: Db) => Promise<T>): Promise<T>;
  /** Finishes the queued jobs and closes every connection. */
  close(): Promise<void>;
}

export interface StoreOptions {
  /** Whether a missing file is made; true unless said otherwise. */
  create?: boolean;
  /** Called when the disk fails under the database: the process must end, a restart settles what happened. */
  onDiskFailure?: (error: unknown) => void;
}

/**
 * Opens the SQLite store at `path` and brings its schema up to date.
 * @throws DatabaseFileError if the file cannot be used or was written by a newer crm.
 */
export async function openStore(path: string, options: StoreOptions = {}): Promise<Store> {
  const writer = openWriter(path, options.create ?? true);
  try {
    await migrate(writer, path);
  } catch (error) {
    writer.close();
    throw error;
  }
  const reader = openReader(path);
  const queue = new WriteQueue(writer, {
    onCommit: reader.endSnapshot,
    onDiskFailure: options.onDiskFailure ?? (() => undefined),
  });
  return {
    read: reader.db,
    write: (job) => queue.write(job),
    close: async () => {
      await queue.close();
      reader.close();
      writer.close();
    },
  };
}

async function migrate(writer: Connection, path: string): Promise<void> {
  // The write lock, taken before looking, makes two processes that start at once take turns.
  writer.run('BEGIN IMMEDIATE');
  try {
    await assertKnownMigrations(writer.db, path);
    const migrator = new Migrator({ db: writer.db, provider: { getMigrations: async () => MIGRATIONS } });
    const { error } = await migrator.migrateToLatest();
    if (error !== undefined) throw error;
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
