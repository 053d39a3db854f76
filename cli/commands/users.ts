// `crm users`: creates, lists, changes and removes the users of an organization.
import type { Command } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';
import { orgOption } from '../settings/options.ts';

/** Adds `crm users create`, `list`, `update` and `remove`. */
export function registerUsersCommand(program: Command): void {
  const users = program
    .command('users')
    .summary('Create, list, change and remove users')
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
  users
    .command('update')
    .description('Change the email or the name of a user, and print the user')
    .argument('<email>', 'Email or ID of the user')
    .addOption(orgOption())
    .option('--email <email>', 'The new email')
    .option('--name <name>', 'The new name of the person')
    .addHelpText('after', '\nExample:\n  crm users update ada@example.com --name "Ada Lovelace"')
    .action(lazyAction(async () => (await import('../organizations/users.ts')).runUsersUpdate));
  users
    .command('remove')
    .summary('Remove a user')
    .description(
      "Remove a user: revoke the API keys bound to the user, give the user's records to another user, and then remove the user. Servers may be running.",
    )
    .argument('<email>', 'Email or ID of the user')
    .requiredOption('--transfer-to <email>', 'The user who gets the records')
    .addOption(orgOption())
    .option('--dry-run', 'Show what would be done, and do nothing')
    .addHelpText('after', '\nExample:\n  crm users remove ada@example.com --transfer-to grace@example.com')
    .action(lazyAction(async () => (await import('../organizations/remove-user.ts')).runUsersRemove));
}
