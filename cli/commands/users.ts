// `crm users`: creates and lists the users of an organization.
import type { Command } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';
import { orgOption } from '../settings/options.ts';

/** Adds `crm users create` and `crm users list`. */
export function registerUsersCommand(program: Command): void {
  const users = program
    .command('users')
    .summary('Create and list users')
    .description(
      'Manage the users of an organization. Users own records, and API keys can be limited to a user.',
    );
  users
    .command('create')
    .description('Create a user, and print it')
    .argument('<email>', 'Email of the user')
    .addOption(orgOption())
    .option('--name <name>', 'Name of the person')
    .addHelpText(
      'after',
      '\nExamples:\n  crm users create grace@acme.example --name "Grace Hopper"\n  crm users create grace@acme.example --org "Acme Inc"',
    )
    .action(lazyAction(async () => (await import('../organizations/users.ts')).runUsersCreate));
  users
    .command('list')
    .description('List the users of an organization')
    .addOption(orgOption())
    .addHelpText('after', '\nExamples:\n  crm users list --org "Acme Inc"')
    .action(lazyAction(async () => (await import('../organizations/users.ts')).runUsersList));
}
