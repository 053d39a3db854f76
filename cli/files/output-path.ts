// Where a command may write the file that `--out` names: nothing is lost unasked, and missing folders are made.
import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { CliError, systemFault, usageError } from '../errors.ts';
import { kindAt } from './private-file.ts';

/** Only a file can be replaced by what is written, and that only if it is to be. */
export function checkOutputPath(out: string, isForced: boolean): void {
  const kind = kindAt(out);
  if (kind === 'nothing' || (isForced && (kind === 'file' || kind === 'link'))) return;
  if (kind === 'folder') throw usageError(`${out} is a folder.`, 'name a file in it with --out.');
  if (kind === 'other')
    throw usageError(`${out} is not a file.`, 'name a file in --out, or leave it out to write to stdout.');
  throw new CliError(`There is a file at ${out} already.`, {
    nextSteps: ['name another in --out, or add --force to write over it.'],
  });
}

/** Makes the folders that are missing above a file to be. */
export function createParentFolder(out: string): void {
  try {
    mkdirSync(dirname(resolve(out)), { recursive: true });
  } catch (cause) {
    throw new CliError(`The folder ${dirname(out)} cannot be made: ${systemFault(cause, FOLDER_FAULTS)}.`, {
      nextSteps: ['name another place in --out.'],
      cause,
    });
  }
}

const FOLDER_FAULTS = { EEXIST: 'there is a file of that name', EACCES: 'this user may not write there' };
