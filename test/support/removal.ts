// Removes an organization as its operator does, while the service runs: in psql, or in the file itself.
import { Database } from 'bun:sqlite';
import { removalStatement } from '../../db/maintenance.ts';
import { isPostgres } from './fresh-databases.ts';
import type { Harness } from './harness.ts';

const TABLES = `select m.name from sqlite_master as m, pragma_table_info(m.name) as c
  where m.type = 'table' and c.name = 'org_id' and m.name <> 'audit_log'`;

/** Deletes all rows of an organization, at once. */
export async function removeOrganization({ dbPath }: Harness, orgNumber: number): Promise<void> {
  if (isPostgres) {
    const client = new Bun.SQL(dbPath, { max: 1 });
    await client.unsafe(removalStatement(orgNumber));
    await client.close();
    return;
  }
  using file = new Database(dbPath);
  file.run('PRAGMA busy_timeout = 5000');
  file.transaction(() => {
    for (const { name } of file.query<{ name: string }, []>(TABLES).all())
      file.run(`delete from "${name}" where org_id = ${orgNumber}`);
    file.run(`delete from organizations where number = ${orgNumber}`);
  })();
}
