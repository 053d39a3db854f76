// Databases as an older crm left them, which lack later migrations.
import { type Migration, Migrator } from 'kysely';
import { MIGRATIONS } from '../../db/migrations/index.ts';
import { openWriter } from '../../db/sqlite/open-store.ts';

const [, SECOND = ''] = Object.keys(MIGRATIONS);

/** The migrations of a crm that does not know that one, nor any after it. */
export function migrationsBefore(name: string): Record<string, Migration> {
  return Object.fromEntries(Object.entries(MIGRATIONS).filter(([other]) => other < name));
}

/** The ID of a task that an older crm has written, in organization 9. */
export const OLDER_TASK = '019b76da-a800-7000-8000-000000000009';

/** The ID of a meeting that it has associated with a company. */
export const OLDER_MEETING = '019b76da-a800-7000-8000-000000000010';
/** When the meeting was last changed, Unix milliseconds. */
export const OLDER_CHANGE = 1_767_225_600_000;

/** The statements with which it did. */
export const OLDER_ROWS = [
  `insert into organizations (number, id, name, name_key, created_at) values (9, '9', 'O', 'o', 1)`,
  `insert into tasks (org_id, id, created_by, created_at, updated_at, name, done)
   values (9, '${OLDER_TASK}', 'k', 1, 1, 'Older', 0)`,
  `insert into companies (org_id, id, created_by, created_at, updated_at, name) values (9, 'c', 'k', 1, 1, 'Older')`,
  `insert into meetings (org_id, id, created_by, created_at, updated_at, company_id)
   values (9, '${OLDER_MEETING}', 'k', 1, ${OLDER_CHANGE}, 'c')`,
];

/**
 * Makes a file of a crm that does not know a migration, by default any but the first; gives the name of the migration that
 * it lacks first.
 */
export async function makeOlderFile(
  path: string,
  { lacking = SECOND, rows = [] }: { lacking?: string; rows?: readonly string[] } = {},
): Promise<string> {
  const { writer, held } = openWriter(path, true);
  const getMigrations = async () => migrationsBefore(lacking);
  writer.run('BEGIN IMMEDIATE');
  const { error } = await new Migrator({ db: writer.db, provider: { getMigrations } }).migrateToLatest();
  if (error !== undefined) throw error;
  for (const row of rows) writer.run(row);
  writer.run('COMMIT');
  writer.close();
  held.release();
  return lacking;
}
