// Backs up a database file before a newer crm changes its tables.

import { existsSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { makeBackup } from '../../db/copy/backup.ts';
import { isDatabaseAddress } from '../../db/database-address.ts';
import { pendingMigrationsOf } from '../../db/store.ts';
import { CliError, messageOf } from '../errors.ts';
import { syncFolderOf } from '../files/private-file.ts';
import { formatBytes, formatTime } from '../terminal/format.ts';
import { note } from '../terminal/streams.ts';
import { shellWord } from '../terminal/text.ts';
import { VERSION } from '../version.ts';
import { newPartialFile, writePartialFile } from './partial-backup.ts';

const WAY_OUT = 'or skip the backup: crm serve --no-backup';

/** Makes a permanent backup next to a file, named after the first of the pending migrations. */
export async function backUpBeforeMigrations(db: string, names: readonly string[]): Promise<void> {
  const file = freeName(`${db}.before-${names[0]}`);
  note(
    `${db} was created by an older crm and needs the migrations ${names.join(', ')}. Backing it up first.`,
  );
  assertRoom(db);
  const startedAt = performance.now();
  const part = newPartialFile(file);
  try {
    await writePartialFile(true, part, (work) => makeBackup(db, part, { crm: VERSION, work }));
    renameSync(part, file);
    syncFolderOf(file);
  } catch (cause) {
    rmSync(part, { force: true });
    throw new CliError(`Could not back up ${db} before its upgrade (${messageOf(cause)}).`, {
      nextSteps: [...nextStepsOf(cause), WAY_OUT],
      cause,
    });
  }
  note(
    `Backed up to ${file} (${formatBytes(statSync(file).size)}) in ${formatTime((performance.now() - startedAt) / 1_000)}. ` +
      `To go back to the older crm: crm restore ${shellWord(file)} --confirm --db ${shellWord(db)}`,
  );
}

/**
 * Checks whether a file can be upgraded here, before a server is stopped for it.
 * @throws CliError or DatabaseError if a newer crm wrote it, or there is no room for the backup
 */
export async function assertCanMigrate(db: string, makesBackup: boolean): Promise<void> {
  if (isDatabaseAddress(db) || !existsSync(db)) return;
  const pending = await pendingMigrationsOf(db);
  if (pending.length > 0 && makesBackup) assertRoom(db);
}

function assertRoom(db: string): void {
  const bytes = [db, `${db}-wal`].reduce(
    (sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
  const { bavail, bsize } = statfsSync(dirname(resolve(db)));
  if (bavail * bsize > bytes) return;
  throw new CliError(`Not enough disk space next to ${db} for a backup of it (${formatBytes(bytes)}).`, {
    nextSteps: ['free up disk space', WAY_OUT],
  });
}

function freeName(name: string): string {
  for (let count = 1; ; count += 1) {
    const candidate = count === 1 ? name : `${name}.${count}`;
    if (!existsSync(candidate)) return candidate;
  }
}

function nextStepsOf(error: unknown): readonly string[] {
  return error instanceof CliError ? error.nextSteps : [];
}
