// When the database was last backed up, so that a missing backup is noticed.
import type { Db, Trx } from '../engine/schema.ts';

const NAME = 'last_backup';

export interface LastBackup {
  /** RFC 3339, in UTC. */
  taken_at: string;
  file: string;
}

/** The last backup of a database; undefined if there is none. */
export async function findLastBackup(db: Db): Promise<LastBackup | undefined> {
  const [row] = await db.selectFrom('settings').select('value').where('name', '=', NAME).execute();
  return row && JSON.parse(row.value);
}

/** Notes a backup. */
export async function recordBackup(trx: Trx, { taken_at, file }: LastBackup): Promise<void> {
  const value = JSON.stringify({ taken_at, file });
  await trx
    .insertInto('settings')
    .values({ name: NAME, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}
