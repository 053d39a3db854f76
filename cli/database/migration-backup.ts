// Backs up a database file before a newer crm changes its tables.
import { existsSync } from 'node:fs';
import { isDatabaseAddress } from '../../db/database-address.ts';
import { pendingMigrationsOf } from '../../db/store.ts';
import { note } from '../terminal/streams.ts';
import { shellWord } from '../terminal/text.ts';
import { assertRoom, keepBackup } from './kept-backup.ts';

const WAY_OUT = 'or skip the backup: crm serve --no-backup';

/** Makes a permanent backup next to a file, named after the first of the pending migrations. */
export async function backUpBeforeMigrations(db: string, names: readonly string[]): Promise<void> {
  note(
    `${db} was created by an older crm and needs the migrations ${names.join(', ')}. Backing it up first.`,
  );
  assertRoom(db, WAY_OUT);
  const what = { name: `before-${names[0]}`, task: 'its upgrade', wayOut: WAY_OUT };
  const { file, words } = await keepBackup(db, what);
  note(
    `${words} To go back to the older crm: crm restore ${shellWord(file)} --confirm --db ${shellWord(db)}`,
  );
}

/**
 * Checks whether a file can be upgraded here, before a server is stopped for it.
 * @throws CliError or DatabaseError if a newer crm wrote it, or there is no room for the backup
 */
export async function assertCanMigrate(db: string, makesBackup: boolean): Promise<void> {
  if (isDatabaseAddress(db) || !existsSync(db)) return;
  const pending = await pendingMigrationsOf(db);
  if (pending.length > 0 && makesBackup) assertRoom(db, WAY_OUT);
}
