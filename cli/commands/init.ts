// `crm init`: creates a database with an organization, a user and a key; a second run changes nothing.
import type { Command } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';

/** Adds `crm init`. */
export function registerInitCommand(program: Command): void {
  program
    .command('init')
    .summary('Create a database, an organization and an API key')
    .description(
      'Create a database, an organization, a user, and a v2 API key with all scopes. What already exists is kept.',
    )
    .option('--org <name>', 'Name of the organization (a terminal asks for it)')
    .option('--user <email>', 'Email of the first user')
    .option('--no-backup', 'Skip the backup before an upgrade of the database')
    .addHelpText(
      'after',
      '\nExamples:\n  crm init --org "Acme Inc"\n  export CRM_API_KEY=$(crm init --org "Acme Inc" --user ada@acme.example)\n\nSee "crm help start".',
    )
    .action(lazyAction(async () => (await import('../organizations/init.ts')).runInit));
}
