// Carries out `crm backup`: what is not whole and checked has a name of its own until it is.
import { existsSync, renameSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { isAddress } from '../../db/declare/text.ts';
import type { LastBackup } from '../../db/tables/last-backup.ts';
import { usageError } from '../errors.ts';
import { kindAt, syncFolderOf } from '../files/own-file.ts';
import { VERSION } from '../version.ts';
import { isSameFile, newPart, rowsOf, theirTools, withWork } from './backup-part.ts';
import { databaseError, withStore } from './database.ts';

/** What was done, as it is told. */
export interface BackupSummary {
  file: string;
  taken_at: string;
  rows: number;
  bytes: number;
  seconds: number;
}

/** Copies a database file as it is now to a file, once the copy has been read and compared. */
export async function backUp(
  db: string,
  file: string,
  { keep, quiet }: { keep: number | null; quiet: boolean },
): Promise<BackupSummary> {
  if (isAddress(db)) throw await theirTools(db, 'pg_dump -Fc -f FILE -d');
  await refuseTarget(db, file, keep);
  const startedAt = performance.now();
  const part = newPart(file);
  const { makeBackup } = await import('../../db/copy/backup.ts');
  const note = await withWork(quiet, part, (work) => makeBackup(db, part, { crm: VERSION, work })).catch(
    async (error: unknown) => {
      throw await databaseError(db, error);
    },
  );
  rotate(file, keep ?? 1);
  renameSync(part, file);
  syncFolderOf(file);
  await noteIn(db, { taken_at: note.taken_at, file: resolve(file) });
  return {
    file,
    taken_at: note.taken_at,
    rows: rowsOf(note),
    bytes: statSync(file).size,
    seconds: Math.round(performance.now() - startedAt) / 1_000,
  };
}

// In a database of an older crm it is not noted: that would bring it up to date, beside whoever serves it.
async function noteIn(db: string, backup: LastBackup): Promise<void> {
  const { DatabaseError, openSnapshot } = await import('../../db/store.ts');
  const { noteBackup } = await import('../../db/tables/last-backup.ts');
  try {
    await (await openSnapshot(db)).close();
  } catch (error) {
    if (error instanceof DatabaseError) return;
    throw error;
  }
  await withStore(db, (store) => store.write('accounts', (trx) => noteBackup(trx, backup)));
}

async function refuseTarget(db: string, file: string, keep: number | null): Promise<void> {
  if (await isSameFile(db, file)) {
    throw usageError(`${file} is the database itself.`, 'name another file for the backup.');
  }
  const kind = kindAt(file);
  if (kind === 'nothing') return;
  if (kind !== 'file')
    throw usageError(`${file} is a ${kind}.`, `name a file, such as ${join(file, 'crm.db')}`);
  if (keep !== null) return;
  throw usageError(
    `There is a file at ${file} already.`,
    `name another, or keep older backups beside the new one: --keep 7 (as ${basename(file)}.1, ${basename(file)}.2 …)`,
  );
}

// Older ones move on by one, the last over the oldest.
function rotate(file: string, keep: number): void {
  const nameOf = (age: number) => (age === 0 ? file : `${file}.${age}`);
  for (let age = keep - 2; age >= 0; age--) {
    if (existsSync(nameOf(age))) renameSync(nameOf(age), nameOf(age + 1));
  }
}
