// A database file as the first crm left it, which lacks every later migration.
import { Migrator } from 'kysely';
import { MIGRATIONS } from '../../db/migrations/index.ts';
import { openWriter } from '../../db/sqlite/open-store.ts';

const [FIRST = ''] = Object.keys(MIGRATIONS);

/** Makes it; gives the name of the migration that it lacks first. */
export async function makeOlderFile(path: string): Promise<string> {
  const { writer, held } = openWriter(path, true);
  const getMigrations = async () =>
    Object.fromEntries(Object.entries(MIGRATIONS).filter(([name]) => name === FIRST));
  writer.run('BEGIN IMMEDIATE');
  const { error } = await new Migrator({ db: writer.db, provider: { getMigrations } }).migrateToLatest();
  if (error !== undefined) throw error;
  writer.run('COMMIT');
  writer.close();
  held.release();
  return Object.keys(MIGRATIONS)[1] ?? '';
}
