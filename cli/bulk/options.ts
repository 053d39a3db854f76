// The options of `update`, `delete` and `get` that work on many records.
import type { Command } from 'commander';
import { usageError } from '../errors.ts';
import { inputNamed } from '../settings/standard-input.ts';

/** The options that go with `--from`, as commander parses them. */
export interface BulkOptions {
  errors?: string;
  quiet?: boolean;
  /** False with --no-resume. */
  resume?: boolean;
}

/** Adds `--from`, with this description, and what goes with it. */
export function addBulkOptions(command: Command, description: string): void {
  command
    .option('--from <file>', description, inputNamed)
    .option('--errors <file>', 'With --from: file for rejected rows')
    .option('--quiet', 'With --from: print errors only');
}

/** Adds `--no-resume`, for commands that write. */
export function addResumeOption(command: Command): void {
  command.option('--no-resume', 'With --from: send every row as if for the first time');
}

/** The ID of the one record to work on; throws a usage error if it is missing, or an option needs `--from`. */
export function idWithoutFrom(
  words: string,
  id: string | undefined,
  { errors, quiet, resume = true }: BulkOptions,
): string {
  const option = errors !== undefined ? '--errors' : quiet ? '--quiet' : resume ? undefined : '--no-resume';
  if (option !== undefined)
    throw usageError(`${option} works with --from only.`, `add --from FILE, or remove ${option}.`);
  if (id === undefined)
    throw usageError('The ID is missing.', `run: crm ${words} ID`, 'for many records, add --from FILE.');
  return id;
}
