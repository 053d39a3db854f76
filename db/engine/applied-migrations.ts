// The migrations that a database has had.
import { sql } from 'kysely';
import type { Db } from './schema.ts';

/** The names of the migrations of a database; none if it does not belong to crm. */
export async function appliedMigrations(db: Db): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === 'kysely_migration')) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  return rows.map(({ name }) => name);
}
