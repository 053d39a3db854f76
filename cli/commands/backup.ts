// `crm backup`: a verified copy of the database file, with or without a running server.
import type { Command } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';
import { count } from '../settings/options.ts';

const HELP = `
The backup is a snapshot of the database at one moment. It contains every write that was acknowledged before the command
started. A running server keeps reading and writing. Before FILE appears, crm compares every table with the original and
checks pages, indexes and references. FILE is either complete and verified, or not there at all.

The backup contains everything, including the hashes of API keys, and only its owner can read it. It is a database file:
you can copy it anywhere, and restore it with "crm restore FILE --confirm". For PostgreSQL, use pg_dump and pg_restore.

Examples:
  crm backup /backups/crm.db
  crm backup /backups/crm.db --keep 7    # the newest, and crm.db.1 to crm.db.6`;

/** Adds `crm backup`. */
export function registerBackupCommand(program: Command): void {
  program
    .command('backup')
    .summary('Back up the database, even while a server uses it')
    .description('Back up the database to FILE and verify the copy. A server may be running.')
    .argument('<file>', 'File to write')
    .option(
      '--keep <n>',
      'Number of backups to keep: an existing FILE becomes FILE.1, FILE.1 becomes FILE.2, and so on',
      count,
    )
    .option('--quiet', 'Print errors only')
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('../backup/create-backup.ts')).runBackup));
}
