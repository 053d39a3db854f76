// What a backup and its restoration share: a name for what is not whole yet, and how far the work is.
import { closeSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
import type { BackupNote, Work } from '../../db/copy/backup.ts';
import { CliError, systemFault, usageError } from '../errors.ts';
import { partialName, removePartialFiles } from '../files/partial-files.ts';
import { createPrivateFile } from '../files/private-file.ts';
import { unlessInterrupted } from '../terminal/interrupt.ts';
import { type Progress, startProgress } from '../terminal/progress.ts';
import { shellWord } from '../terminal/text.ts';

/** The error for a database of PostgreSQL, whose own tools copy it, and bring it back to any moment. */
export async function postgresToolsError(db: string, command: string): Promise<CliError> {
  const { databaseLabel } = await import('../../db/store.ts');
  const page = 'https://www.postgresql.org/docs/current/backup.html';
  return usageError(
    'PostgreSQL is backed up and restored by its own tools, beside running nodes.',
    `run: ${command} ${shellWord(databaseLabel(db))}   (any moment of the past needs an archive of its log: ${page})`,
  );
}

/** How many rows a backup has. */
export function rowsOf({ tables }: BackupNote): number {
  return Object.values(tables).reduce((sum, { rows }) => sum + rows, 0);
}

/** Whether two paths lead to one file that is there. */
export async function isSameFile(one: string, other: string): Promise<boolean> {
  const { databaseIdentity } = await import('../../db/store.ts');
  const identity = await databaseIdentity(one);
  return identity !== '' && identity === (await databaseIdentity(other));
}

/**
 * Makes a file beside another, for what is to take its place. Parts of runs that were killed go, of other times too where
 * the name tells one; those of runs that are under way stay.
 */
export function newPartialFile(file: string): string {
  const names = basename(file)
    .split(/\d+/)
    .map((text) => RegExp.escape(text))
    .join('\\d+');
  try {
    removePartialFiles(file, 'crm-part', names);
    const part = partialName(file, 'crm-part');
    closeSync(createPrivateFile(part));
    return part;
  } catch (cause) {
    throw new CliError(
      `Nothing can be written beside ${file} (${systemFault(cause, { ENOENT: 'there is no such folder' })}).`,
      {
        nextSteps: ['make the folder, or give the user who runs crm the right to write in it.'],
        cause,
      },
    );
  }
}

/** Shows how far the work is; what was begun goes if it comes to nothing. */
export async function withProgress<T>(
  quiet: boolean,
  part: string,
  job: (work: Work) => Promise<T>,
): Promise<T> {
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
