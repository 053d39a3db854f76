// `crm backup`: a checked copy of the database file, beside a running server or without one.
import type { Command } from 'commander';
import { backUp } from '../backup/create-backup.ts';
import { databaseFlag } from '../database/database.ts';
import { type Config, resolveConfig } from '../settings/config.ts';
import { count } from '../settings/options.ts';
import { counted, formatBytes, formatDuration } from '../terminal/format.ts';
import { printSummaryJson } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';
import { shellWord } from '../terminal/text.ts';

const HELP = `
The copy is the database as it was at one moment: every write that was answered before the command began is in it. Nothing
waits for it: a server beside it goes on reading and writing. Before the copy gets its name every table is read on both
sides and compared, and pages, indexes and references are checked; FILE is there whole and checked, or not at all.

The file holds everything, hashes of keys included, and is readable by its owner alone. It is a database: move it
anywhere, and put it back with "crm restore FILE --confirm". PostgreSQL has its own tools, pg_dump and pg_restore.

Examples:
  crm backup /backups/crm.db
  crm backup /backups/crm.db --keep 7      # from cron: the newest, and six older ones as crm.db.1 to crm.db.6`;

/** Adds `crm backup`. */
export function registerBackupCommand(program: Command): void {
  program
    .command('backup')
    .summary('copy the database, beside a running server too')
    .description(
      'Copy the database file as it is now into FILE, checked, beside a running server or without one.',
    )
    .argument('<file>', 'the backup')
    .option(
      '--keep <n>',
      'backups to keep: a FILE that is there becomes FILE.1, that FILE.2, and so on',
      count,
    )
    .option('--quiet', 'say nothing but errors')
    .addHelpText('after', HELP)
    .action((file: string, options: { keep?: number; quiet?: boolean }, command: Command) =>
      runBackup(file, options, resolveConfig(command)),
    );
}

async function runBackup(
  file: string,
  { keep, quiet = false }: { keep?: number; quiet?: boolean },
  config: Config,
): Promise<void> {
  const summary = await backUp(config.db, file, { keep: keep ?? null, quiet });
  await printSummaryJson(config, summary);
  if (quiet) return;
  const { rows, bytes, seconds } = summary;
  note(
    `Backed up ${counted(rows, 'row')} of ${config.db} to ${file} (${formatBytes(bytes)}) in ${formatDuration(seconds)}; ` +
      'read again, and the same.',
  );
  note(`To put it back: crm restore ${shellWord(file)} --confirm${await databaseFlag(config.db)}`);
}
