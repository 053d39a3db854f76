// `crm restore`: replaces the database with a backup, and keeps the replaced file.
import type { Command } from 'commander';
import { restore } from '../backup/restore-backup.ts';
import { databaseFlag } from '../database/database.ts';
import { type Config, resolveConfig } from '../settings/config.ts';
import { counted, formatDuration } from '../terminal/format.ts';
import { printSummaryJson } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';
import { shellWord } from '../terminal/text.ts';

const HELP = `
crm copies the backup next to the database, reads and checks the copy, and only then replaces the database, in one step.
The previous database is kept, and crm prints its name. Stop the server first: a database in use is not replaced.

API keys are restored as they were at the time of the backup: keys that were revoked or rotated since then work as before.
Review them with "crm keys list".

Example:
  crm restore /backups/crm.db --confirm`;

/** Adds `crm restore`. */
export function registerRestoreCommand(program: Command): void {
  program
    .command('restore')
    .summary('Restore the database from a backup')
    .description('Replace the database with a backup after checking it, and keep the previous database')
    .argument('<file>', 'Backup to restore')
    .option('--confirm', 'Confirm that you want to replace the database')
    .option('--quiet', 'Print errors only')
    .addHelpText('after', HELP)
    .action((file: string, options: { confirm?: boolean; quiet?: boolean }, command: Command) =>
      runRestore(file, options, resolveConfig(command)),
    );
}

async function runRestore(
  file: string,
  { confirm = false, quiet = false }: { confirm?: boolean; quiet?: boolean },
  config: Config,
): Promise<void> {
  const summary = await restore(config.db, file, { confirm, quiet });
  await printSummaryJson(config, summary);
  if (quiet) return;
  const { rows, taken_at: takenAt, kept_as: keptAs, returned, seconds } = summary;
  const what = rows === null ? 'what it holds' : `${counted(rows, 'row')}, as of ${takenAt}`;
  note(`Restored ${config.db} from ${file} in ${formatDuration(seconds)}: ${what}.`);
  if (keptAs !== null) note(`The previous database is kept as ${keptAs}.`);
  if (rows === null)
    note('The file is intact, but "crm backup" did not write it, so its content cannot be verified.');
  note('API keys that were revoked or rotated since the backup work again. Review them: crm keys list');
  const flag = await databaseFlag(config.db);
  for (const { address, organization } of returned) {
    const words = `${shellWord(address)} --org ${shellWord(organization)}${flag}`;
    note(
      `This person was erased after the backup and is back. To erase again: crm people erase ${words} --confirm`,
    );
  }
  note(`Next: crm serve${flag}`);
}
