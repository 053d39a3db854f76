// `crm migrate`: copies a whole database into another, of either engine.
import type { Command } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';

const HELP = `
Migrate copies everything unchanged: organizations, users, API keys (as hashes), stored responses to idempotency keys,
records with their IDs and times, links, transcripts, and the secret that signs cursors. It writes nothing to the source.
Stop the servers of both databases first. Migrate refuses a database file that a server uses, and a PostgreSQL target that
another crm process uses. A PostgreSQL source may be in use: the copy then has its state at the start, and crm tells you.

The target is a new file or an empty PostgreSQL database. No other command opens the target until the copy is complete. If
the copy is interrupted, run the same command again to continue. At the end, crm reads every table on both sides and
compares rows and digests. It reports every difference and exits with 1 if there is one.

Examples:
  crm migrate --from crm.db --to postgres://crm@db.example/crm
  crm migrate --from postgres://crm@db.example/crm --to crm.db`;

/** Adds `crm migrate`. */
export function registerMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .summary('Copy a whole database to another')
    .description('Copy a whole database into an empty one, from and to a file or PostgreSQL')
    .requiredOption('--from <database>', 'Database to copy: file, or database URL postgres://user@host/db')
    .requiredOption('--to <database>', 'Database to fill: new file, or database URL of an empty database')
    .option('--quiet', 'Print errors only')
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('../database/migrate.ts')).runMigrate));
}
