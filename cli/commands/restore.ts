// `crm restore`: replaces the database with a backup, and keeps the replaced file.
import type { Command } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';

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
    .action(lazyAction(async () => (await import('../backup/restore-backup.ts')).runRestore));
}
