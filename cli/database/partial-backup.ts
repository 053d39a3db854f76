// What backup and restore share: a temporary name for unfinished files, and progress.

import { closeSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
import type { BackupNote, Work } from '../../db/copy/backup.ts';
import { databaseIdentity, databaseLabel } from '../../db/store.ts';
import { CliError, systemFault, usageError } from '../errors.ts';
import { partialName, removePartialFiles } from '../files/partial-files.ts';
import { createPrivateFile } from '../files/private-file.ts';
import { unlessInterrupted } from '../terminal/interrupt.ts';
import { type Progress, startProgress } from '../terminal/progress.ts';
import { shellWord } from '../terminal/text.ts';

/** The error for a PostgreSQL database, which must be backed up and restored with its own tools. */
export function postgresToolsError(db: string, command: string): CliError {
  const page = 'https://www.postgresql.org/docs/current/backup.html';
  return usageError(
    'Back up and restore PostgreSQL with its own tools, while nodes run.',
    `run: ${command} ${shellWord(databaseLabel(db))}   (for point-in-time recovery, archive the WAL: ${page})`,
  );
}

/** How many rows a backup has. */
export function rowsOf({ tables }: BackupNote): number {
  return Object.values(tables).reduce((sum, { rows }) => sum + rows, 0);
}

/** Whether two paths lead to the same existing file. */
export async function isSameFile(one: string, other: string): Promise<boolean> {
  const identity = await databaseIdentity(one);
  return identity !== '' && identity === (await databaseIdentity(other));
}

/**
 * Creates a file next to another, which it will replace. Removes such files of runs that were killed, of other times too
 * if the name tells one; those of running commands are kept.
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
      `Cannot write to the folder of ${file} (${systemFault(cause, { ENOENT: 'no such folder' })}).`,
      {
        nextSteps: ['create the folder, or give the user who runs crm permission to write to it.'],
        cause,
      },
    );
  }
}

/** Runs the job with progress, and removes its temporary files if it fails. */
export async function writePartialFile<T>(
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
