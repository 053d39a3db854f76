// Updates the schema of a database file.
import { Migrator, sql } from 'kysely';
import { DatabaseError } from '../database-error.ts';
import type { Db } from '../engine/schema.ts';
import { MIGRATIONS } from '../migrations/index.ts';
import type { Connection } from './connection.ts';
import { setPlannerStatistics } from './planner.ts';

/** @throws DatabaseError if the file was written by a newer crm */
export async function migrateFile(writer: Connection, path: string): Promise<void> {
  // The migrator would read the columns of all tables, three times, to find that there is nothing to do. And
  // waiting for the write lock would block this process, which may be the one that holds it.
  if (await isUpToDate(writer.db, path)) return;
  // Takes the write lock first, so that two processes that start at once take turns.
  writer.run('BEGIN IMMEDIATE');
  try {
    if (await isUpToDate(writer.db, path)) {
      writer.run('COMMIT');
      return;
    }
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
  const made = await knownMigrations(db, path);
  return made.length === 0 ? [] : missingIn(made);
}

/** @throws DatabaseError if the file has a migration that this crm does not know */
export async function assertKnownMigrations(db: Db, path: string): Promise<void> {
  await knownMigrations(db, path);
}

async function isUpToDate(db: Db, path: string): Promise<boolean> {
  return missingIn(await knownMigrations(db, path)).length === 0;
}

function missingIn(made: readonly string[]): string[] {
  return Object.keys(MIGRATIONS).filter((name) => !made.includes(name));
}

async function knownMigrations(db: Db, path: string): Promise<string[]> {
  const isCrm = sql`select 1 from sqlite_schema where type = 'table' and name = 'kysely_migration'`;
  if ((await isCrm.execute(db)).rows.length === 0) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  const made = rows.map(({ name }) => name);
  const unknown = made.find((name) => MIGRATIONS[name] === undefined);
  if (unknown === undefined) return made;
  throw new DatabaseError(`${path} was written by a newer crm (it has the migration ${unknown}).`, [
    'Use the newer crm, or restore a backup made before the upgrade.',
  ]);
}
