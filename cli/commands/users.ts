// `crm users`: creates and lists the users of an organization.
import type { Command } from 'commander';
import type { UserOptions } from '../organizations/users.ts';
import { resolveConfig } from '../settings/config.ts';

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
    .requiredOption('--org <org>', 'Name or ID of the organization')
    .option('--name <name>', 'Name of the person')
    .action(async (email: string, options: UserOptions, command: Command) => {
      const { runUsersCreate } = await import('../organizations/users.ts');
      await runUsersCreate(email, options, resolveConfig(command));
    });
  users
    .command('list')
    .description('List the users of an organization')
    .requiredOption('--org <org>', 'Name or ID of the organization')
    .action(async (options: UserOptions, command: Command) => {
      const { runUsersList } = await import('../organizations/users.ts');
      await runUsersList(options, resolveConfig(command));
    });
}
