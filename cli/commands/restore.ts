// `crm restore`: puts a backup in the place of the database, which is kept.
import type { Command } from 'commander';
import { restore } from '../backup/restore-backup.ts';
import { databaseFlag } from '../database/database.ts';
import { type Config, resolveConfig } from '../settings/config.ts';
import { counted, formatDuration } from '../terminal/format.ts';
import { printSummaryJson } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';
import { shellWord } from '../terminal/text.ts';

const HELP = `
The backup is copied beside the database, read and checked there, and only then takes its place, in one step. What was
there is kept, under a name that is told. A database that is served is refused: stop the server first.

Keys are as they were when the backup was made: what was revoked or rotated since then counts again. See "crm keys list".

Example:
  crm restore /backups/crm.db --confirm`;

/** Adds `crm restore`. */
export function registerRestoreCommand(program: Command): void {
  program
    .command('restore')
    .summary('put a backup in the place of the database')
    .description(
      'Put what "crm backup" wrote, once it is checked, in the place of the database, which is kept.',
    )
    .argument('<file>', 'the backup')
    .option('--confirm', 'do it')
    .option('--quiet', 'say nothing but errors')
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
  if (keptAs !== null) note(`What was there before is kept as ${keptAs}.`);
  if (rows === null)
    note('The file was sound, but says nothing of what it should hold: "crm backup" did not make it.');
  note('Keys that were revoked or rotated since then count again: see "crm keys list".');
  const flag = await databaseFlag(config.db);
  for (const { address, organization } of returned) {
    const words = `${shellWord(address)} --org ${shellWord(organization)}${flag}`;
    note(`Was erased since then, and is back. Erase again: crm people erase ${words} --confirm`);
  }
  note(`Next: crm serve${flag}`);
}
