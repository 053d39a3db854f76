// `crm doctor`: checks settings, database and server, and says how to fix what is wrong.
import type { Command } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';

const HELP = `
Doctor checks where each setting comes from. It checks the database: whether it opens and is intact, its indexes, free
disk space, and the age of the last backup. It checks the server: whether it responds and is ready, its clock, its version,
and what your API key can read. It reads all of the database and writes nothing. Checking the key takes 11 requests.

With --rebuild-search, a running server first builds the search index of every organization again. Until it is done,
searches return 503.

The exit code is 1 if a check fails; warnings do not count. A server that does not respond is a warning. A missing
database is a warning too, unless --db, CRM_DB or a profile names it.

Examples:
  crm doctor
  crm doctor --db /var/lib/crm/crm.db -o json`;

/** Adds `crm doctor`. */
export function registerDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .summary('Find problems and how to fix them')
    .description('Find problems with settings, database and server, and how to fix them')
    .option(
      '--rebuild-search',
      'Build the search index again, if doctor says that it does not match the records',
    )
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('../doctor/run.ts')).runDoctor));
}
