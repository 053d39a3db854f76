// Carries out `crm backup` and `crm restore`: what is not whole and checked has a name of its own until it is.
import { closeSync, copyFileSync, existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { BackupNote, Work } from '../../db/copy/backup.ts';
import { isAddress } from '../../db/declare/text.ts';
import type { LastBackup } from '../../db/tables/last-backup.ts';
import { CliError, errorCode, usageError } from '../errors.ts';
import { createOwn, kindAt, syncFolderOf } from '../files/own-file.ts';
import { unlessInterrupted } from '../terminal/interrupt.ts';
import { type Progress, startProgress } from '../terminal/progress.ts';
import { shellWord } from '../terminal/text.ts';
import { VERSION } from '../version.ts';
import { databaseError, lockedForServing, withStore } from './database.ts';

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
  refuseTarget(db, file, keep);
  const startedAt = performance.now();
  const part = newPart(file);
  const { makeBackup } = await import('../../db/copy/backup.ts');
  const { noteBackup } = await import('../../db/tables/last-backup.ts');
  const note = await withWork(quiet, part, (work) => makeBackup(db, part, { crm: VERSION, work })).catch(
    async (error: unknown) => {
      throw await databaseError(db, error);
    },
  );
  rotate(file, keep ?? 1);
  renameSync(part, file);
  syncFolderOf(file);
  await withStore(db, (store) =>
    store.write('accounts', (trx) => noteBackup(trx, { taken_at: note.taken_at, file: resolve(file) })),
  );
  return {
    file,
    taken_at: note.taken_at,
    rows: rowsOf(note),
    bytes: statSync(file).size,
    seconds: Math.round(performance.now() - startedAt) / 1_000,
  };
}

function rowsOf({ tables }: BackupNote): number {
  return Object.values(tables).reduce((sum, { rows }) => sum + rows, 0);
}

// PostgreSQL's own tools know how to copy it, and to any moment.
async function theirTools(db: string, command: string): Promise<CliError> {
  const { shownDatabase } = await import('../../db/store.ts');
  const page = 'https://www.postgresql.org/docs/current/backup.html';
  return usageError(
    'PostgreSQL is backed up and restored by its own tools, beside running nodes.',
    `run: ${command} ${shellWord(shownDatabase(db))}   (any moment of the past needs an archive of its log: ${page})`,
  );
}

function refuseTarget(db: string, file: string, keep: number | null): void {
  if (existsSync(db) && existsSync(file) && isSame(db, file)) {
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

function isSame(one: string, other: string): boolean {
  const [a, b] = [statSync(one), statSync(other)];
  return a.ino === b.ino && a.dev === b.dev;
}

// Parts of runs that were killed go, of other times too where the name tells one; those of runs that are under way stay.
function newPart(file: string): string {
  const folder = dirname(resolve(file));
  const name = basename(file)
    .split(/\d+/)
    .map((text) => RegExp.escape(text))
    .join('\\d+');
  const own = new RegExp(`^${name}\\.(\\d+)\\.crm-part(?:-\\w+)?$`);
  try {
    for (const there of readdirSync(folder)) {
      const pid = own.exec(there)?.[1];
      if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(folder, there), { force: true });
    }
    const part = join(folder, `${basename(file)}.${process.pid}.crm-part`);
    closeSync(createOwn(part));
    return part;
  } catch (cause) {
    throw new CliError(`Nothing can be written beside ${file} (${errorCode(cause)}).`, {
      nextSteps: ['make the folder, or give the user who runs crm the right to write in it.'],
      cause,
    });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

// Older ones move on by one, the oldest goes; at each moment every one of them has a name.
function rotate(file: string, keep: number): void {
  const nameOf = (age: number) => (age === 0 ? file : `${file}.${age}`);
  rmSync(nameOf(keep - 1), { force: true });
  for (let age = keep - 2; age >= 0; age--) {
    if (existsSync(nameOf(age))) renameSync(nameOf(age), nameOf(age + 1));
  }
}

/** What was done, as it is told. */
export interface RestoreSummary {
  db: string;
  /** Null of a file that says nothing of itself. */
  taken_at: string | null;
  rows: number | null;
  /** Where what was there before is now. */
  kept_as: string | null;
  seconds: number;
}

/** Puts a backup, once it has been read and compared, in the place of a database that nobody serves. */
export async function restore(
  db: string,
  file: string,
  { confirm, quiet }: { confirm: boolean; quiet: boolean },
): Promise<RestoreSummary> {
  if (isAddress(db)) throw await theirTools(db, 'pg_restore --clean --if-exists FILE -d');
  refuseSource(db, file);
  if (!confirm) {
    const effect = existsSync(db) ? 'would replace what it holds (which is kept beside it)' : 'would make it';
    throw usageError(`Restoring ${file} to ${db} ${effect}.`, 'say so with --confirm.');
  }
  const unlock = await lockedForServing(db, 'crm restore', 'lockPlace');
  try {
    const startedAt = performance.now();
    const part = newPart(db);
    const { checkBackup } = await import('../../db/copy/backup.ts');
    const note = await withWork(quiet, part, async (work) => {
      copyFileSync(file, part);
      const found = await checkBackup(part, work);
      await makeOrdinary(part, found && { taken_at: found.taken_at, file: resolve(file) });
      return found;
    }).catch(async (error: unknown) => {
      throw await databaseError(db, error);
    });
    const { replaceDatabase } = await import('../../db/store.ts');
    const keptAs = `${db}.before-restore-${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}`;
    const wasThere = replaceDatabase(db, part, keptAs);
    syncFolderOf(db);
    return {
      db,
      taken_at: note?.taken_at ?? null,
      rows: note && rowsOf(note),
      kept_as: wasThere ? keptAs : null,
      seconds: Math.round(performance.now() - startedAt) / 1_000,
    };
  } finally {
    unlock();
  }
}

function refuseSource(db: string, file: string): void {
  const kind = existsSync(file) && statSync(file).isFile() ? 'file' : kindAt(file);
  if (kind !== 'file') {
    const fault = kind === 'nothing' ? `There is no file ${file}.` : `${file} is no file.`;
    throw usageError(fault, 'name what "crm backup FILE" wrote.');
  }
  if (existsSync(db) && isSame(db, file)) {
    throw usageError(`${file} is the database itself.`, 'name a backup of it.');
  }
  const log = `${file}-wal`;
  if (!existsSync(log) || statSync(log).size === 0) return;
  throw usageError(
    `${file} is in use, or was not closed: a part of what it holds is in ${log}.`,
    `make a backup of it first: crm backup NEWFILE --db ${shellWord(file)}`,
  );
}

// It is up to date then, and no backup any more, but has one.
async function makeOrdinary(part: string, backup: LastBackup | null): Promise<void> {
  const { openStore } = await import('../../db/store.ts');
  const { removeBackupNote } = await import('../../db/tables/backup-note.ts');
  const { noteBackup } = await import('../../db/tables/last-backup.ts');
  const store = await openStore(part, { create: false });
  try {
    await store.write('accounts', async (trx) => {
      await removeBackupNote(trx);
      if (backup !== null) await noteBackup(trx, backup);
    });
  } finally {
    await store.close();
  }
}

// Shows how far the work is; what was begun goes if it comes to nothing.
async function withWork<T>(quiet: boolean, part: string, job: (work: Work) => Promise<T>): Promise<T> {
  let progress: Progress | null = null;
  let done = 0;
  const work: Work = {
    begin: async (label, total) => {
      await progress?.stop();
      done = 0;
      progress = await startProgress({ label, unit: 'rows', total, quiet });
    },
    add: (rows) => {
      done += rows;
      progress?.update({ done });
    },
  };
  try {
    return await unlessInterrupted(job(work), () => ({
      message: 'Interrupted; nothing was changed.',
      nextSteps: ['run the same command again.'],
    }));
  } catch (error) {
    for (const name of [part, `${part}-wal`, `${part}-shm`, `${part}-journal`]) rmSync(name, { force: true });
    throw error;
  } finally {
    await (progress as Progress | null)?.stop();
  }
}
