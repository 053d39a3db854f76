// Checks the path of --out before writing: never overwrites unasked, and creates missing folders.
import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { CliError, systemFault, usageError } from '../errors.ts';
import { kindAt } from './private-file.ts';

/** The file that `--out` names; null for stdout, which is also `-`. */
export function outputFile(out: string | undefined): string | null {
  return out === undefined || out === '-' ? null : out;
}

/** Throws unless the path is free, or is a file and `force` allows overwriting it. */
export function checkOutputPath(out: string, isForced: boolean): void {
  const kind = kindAt(out);
  if (kind === 'nothing' || (isForced && (kind === 'file' || kind === 'link'))) return;
  if (kind === 'folder') throw usageError(`${out} is a folder.`, 'set --out to a file in it.');
  if (kind === 'other')
    throw usageError(`${out} is not a file.`, 'set --out to a file, or remove --out to write to stdout.');
  throw new CliError(`The file ${out} already exists.`, {
    nextSteps: ['choose another file with --out, or add --force to overwrite it.'],
  });
}

/** Creates the missing parent folders of a file. */
export function createParentFolder(out: string): void {
  try {
    mkdirSync(dirname(resolve(out)), { recursive: true });
  } catch (cause) {
    throw new CliError(`Cannot create the folder ${dirname(out)}: ${systemFault(cause, FOLDER_FAULTS)}.`, {
      nextSteps: ['choose another place with --out.'],
      cause,
    });
  }
}

const FOLDER_FAULTS = { EEXIST: 'a file with this name exists', EACCES: 'permission denied' };
