// Carries out `crm backup`: the copy has a temporary name until it is complete and verified.

import { existsSync, linkSync, lstatSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { makeBackup } from '../../db/copy/backup.ts';
import { isDatabaseAddress } from '../../db/database-address.ts';
import { DatabaseError, openSnapshot } from '../../db/store.ts';
import { type LastBackup, recordBackup } from '../../db/tables/last-backup.ts';
import { databaseError, databaseFlag, warnIfReadOnly, withStore } from '../database/database.ts';
import {
  isSameFile,
  newPartialFile,
  postgresToolsError,
  rowsOf,
  writePartialFile,
} from '../database/partial-backup.ts';
import { CliError, messageOf, systemFault, usageError } from '../errors.ts';
import { kindAt, syncFolderOf } from '../files/private-file.ts';
import type { Config } from '../settings/config.ts';
import { counted, formatBytes, formatDuration } from '../terminal/format.ts';
import { printSummaryJson } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';
import { shellWord } from '../terminal/text.ts';
import { VERSION } from '../version.ts';

export interface BackupFlags {
  keep?: number;
  quiet?: boolean;
}

/** Copies a database file to another file, which gets its name once the copy is verified. */
export async function runBackup(
  file: string,
  { keep, quiet = false }: BackupFlags,
  config: Config,
): Promise<void> {
  const { db } = config;
  if (isDatabaseAddress(db)) throw postgresToolsError(db, 'pg_dump -Fc -f FILE -d');
  await refuseTarget(db, file, keep);
  const startedAt = performance.now();
  const part = newPartialFile(file);
  const made = await writePartialFile(quiet, part, async (work) => {
    const backup = await makeBackup(db, part, { crm: VERSION, work });
    takePlace(part, file, keep ?? 1);
    return backup;
  }).catch((error: unknown) => {
    throw databaseError(db, error);
  });
  const { taken_at } = made;
  const isReadOnly = warnIfReadOnly(db);
  if (!isReadOnly) await noteIn(db, { taken_at, file: resolve(file) }, quiet);
  const [rows, bytes] = [rowsOf(made), statSync(file).size];
  const seconds = Math.round(performance.now() - startedAt) / 1_000;
  await printSummaryJson(config, { file, taken_at, rows, bytes, seconds });
  if (quiet) return;
  note(
    `Backed up ${counted(rows, 'row')} of ${db} to ${file} (${formatBytes(bytes)}) in ${formatDuration(seconds)}; ` +
      'verified.',
  );
  // What cannot be written cannot be restored to either.
  const target = isReadOnly ? ' --db NEWFILE' : databaseFlag(db);
  note(`To restore it: crm restore ${shellWord(file)} --confirm${target}`);
}

// In a database of an older crm it is not recorded: that would upgrade the database while a server may use it. A backup
// that could not be recorded is still a backup.
async function noteIn(db: string, backup: LastBackup, quiet: boolean): Promise<void> {
  try {
    if (!(await isUpToDate(db))) return;
    await withStore(db, (store) => store.write('accounts', (trx) => recordBackup(trx, backup)));
  } catch (error) {
    if (!quiet) note(`Could not record this backup for "crm doctor". ${messageOf(error)}`);
  }
}

async function isUpToDate(db: string): Promise<boolean> {
  try {
    await (await openSnapshot(db)).close();
    return true;
  } catch (error) {
    if (error instanceof DatabaseError) return false;
    throw error;
  }
}

async function refuseTarget(db: string, file: string, keep: number | undefined): Promise<void> {
  if (await isSameFile(db, file)) {
    throw usageError(`${file} is the database itself.`, 'choose another file for the backup.');
  }
  const kind = kindAt(file);
  if (kind === 'nothing') return;
  if (kind !== 'file')
    throw usageError(`${file} is a ${kind}.`, `choose a file, such as ${join(file, 'crm.db')}`);
  if (keep !== undefined) return;
  throw usageError(
    `The file ${file} already exists.`,
    `choose another file, or keep older backups too: --keep 7 (as ${basename(file)}.1, ${basename(file)}.2, …)`,
  );
}

function takePlace(part: string, file: string, keep: number): void {
  try {
    rotate(file, keep);
    renameSync(part, file);
    syncFolderOf(file);
  } catch (cause) {
    throw new CliError(`Cannot rename the finished backup to ${file} (${systemFault(cause)}).`, {
      nextSteps: ['check the disk for errors, then run the same command again.'],
      cause,
    });
  }
}

/**
 * Renames older backups by one number, up to a free number, else over the oldest. FILE keeps its name until the newer one
 * replaces it. If an earlier run was interrupted before that, FILE.1 is still the same file as FILE.
 */
function rotate(file: string, keep: number): void {
  const nameOf = (age: number) => (age === 0 ? file : `${file}.${age}`);
  if (keep === 1 || !existsSync(file) || inodeAt(file) === inodeAt(nameOf(1))) return;
  let last = 1;
  while (last < keep - 1 && existsSync(nameOf(last))) last++;
  for (let age = last; age > 1; age--) renameSync(nameOf(age - 1), nameOf(age));
  if (existsSync(nameOf(1))) rmSync(nameOf(1));
  try {
    linkSync(file, nameOf(1));
  } catch {
    // Not every file system supports hard links.
    renameSync(file, nameOf(1));
  }
}

function inodeAt(path: string): bigint | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}
