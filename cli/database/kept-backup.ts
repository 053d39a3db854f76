// Backups of a database file that are made before something cannot be undone, and stay next to the file.
import { existsSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { makeBackup } from '../../db/copy/backup.ts';
import { CliError, messageOf } from '../errors.ts';
import { syncFolderOf } from '../files/private-file.ts';
import { formatBytes, formatTime } from '../terminal/format.ts';
import { VERSION } from '../version.ts';
import { newPartialFile, writePartialFile } from './partial-backup.ts';

/** What a backup is made before. */
export interface KeptBackup {
  /** The end of its file name. */
  name: string;
  /** What follows, in words. */
  task: string;
  /** The next step if it cannot be made. */
  wayOut: string;
}

/** Makes a backup next to a file, and tells about it in words. */
export async function keepBackup(
  db: string,
  { name, task, wayOut }: KeptBackup,
): Promise<{ file: string; words: string }> {
  const file = freeName(`${db}.${name}`);
  const startedAt = performance.now();
  const part = newPartialFile(file);
  try {
    await writePartialFile(true, part, (work) => makeBackup(db, part, { crm: VERSION, work }));
    renameSync(part, file);
    syncFolderOf(file);
  } catch (cause) {
    rmSync(part, { force: true });
    throw new CliError(`Could not back up ${db} before ${task} (${messageOf(cause)}).`, {
      nextSteps: [...nextStepsOf(cause), wayOut],
      cause,
    });
  }
  const time = formatTime((performance.now() - startedAt) / 1_000);
  return { file, words: `Backed up to ${file} (${formatBytes(statSync(file).size)}) in ${time}.` };
}

/** @throws CliError if there is no room next to a file for a backup of it */
export function assertRoom(db: string, wayOut: string): void {
  const bytes = [db, `${db}-wal`].reduce(
    (sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
  const { bavail, bsize } = statfsSync(dirname(resolve(db)));
  if (bavail * bsize > bytes) return;
  throw new CliError(`Not enough disk space next to ${db} for a backup of it (${formatBytes(bytes)}).`, {
    nextSteps: ['free up disk space', wayOut],
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
