// Updates the schema of a database file.
import { Migrator } from 'kysely';
import { DatabaseError } from '../database-error.ts';
import { appliedMigrations } from '../engine/applied-migrations.ts';
import type { Db } from '../engine/schema.ts';
import { MIGRATIONS } from '../migrations/index.ts';
import type { Connection } from './connection.ts';
import { setPlannerStatistics } from './planner.ts';

/** @throws DatabaseError if the file was written by a newer crm */
export async function migrateFile(writer: Connection, path: string): Promise<void> {
  // Takes the write lock first, so that two processes that start at once take turns.
  writer.run('BEGIN IMMEDIATE');
  try {
    await assertKnownMigrations(writer.db, path);
    const migrator = new Migrator({ db: writer.db, provider: { getMigrations: async () => MIGRATIONS } });
    const { error, results = [] } = await migrator.migrateToLatest();
    if (error !== undefined) throw error;
    if (results.length > 0) setPlannerStatistics(writer);
    writer.run('COMMIT');
  } catch (error) {
    if (writer.inTransaction) writer.run('ROLLBACK');
    throw error;
  }
}

/**
 * The migrations that a file lacks; none for a new one.
 * @throws DatabaseError if it has a migration that this crm does not know
 */
export async function pendingMigrations(db: Db, path: string): Promise<string[]> {
  await assertKnownMigrations(db, path);
  const made = new Set(await appliedMigrations(db));
  return made.size === 0 ? [] : Object.keys(MIGRATIONS).filter((name) => !made.has(name));
}

/** @throws DatabaseError if the file has a migration that this crm does not know */
export async function assertKnownMigrations(db: Db, path: string): Promise<void> {
  const unknown = (await appliedMigrations(db)).find((name) => MIGRATIONS[name] === undefined);
  if (unknown === undefined) return;
  throw new DatabaseError(`${path} was written by a newer crm (it has the migration ${unknown}).`, [
    'Use the newer crm, or restore a backup made before the upgrade.',
  ]);
}
