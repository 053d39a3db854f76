// `crm orgs`: creates, lists and updates organizations.
import type { Command } from 'commander';
import type { OrganizationOptions } from '../organizations/organizations.ts';
import { resolveConfig } from '../settings/config.ts';
import { registerOrgsQuotaCommand } from './orgs-quota.ts';

/** Adds `crm orgs create`, `update`, `quota` and `list`. */
export function registerOrgsCommand(program: Command): void {
  const orgs = program
    .command('orgs')
    .summary('Create, update and list organizations')
    .description('Manage organizations. Each has its own records, users and API keys.');
  orgs
    .command('create')
    .description('Create an organization with a first pipeline, and print it')
    .argument('<name>', 'Unique name')
    .option(
      '--key-expiry <duration>',
      'Default lifetime of its API keys, such as 90d (default: keys do not expire)',
    )
    .action(async (name: string, options: OrganizationOptions, command: Command) => {
      const { runOrgsCreate } = await import('../organizations/organizations.ts');
      await runOrgsCreate(name, options, resolveConfig(command));
    });
  orgs
    .command('update')
    .description('Update the settings of an organization, and print it')
    .argument('<org>', 'Name or ID of the organization')
    .option('--key-expiry <duration>', 'Default lifetime of API keys issued from now on, or none')
    .action(async (org: string, options: OrganizationOptions, command: Command) => {
      const { runOrgsUpdate } = await import('../organizations/organizations.ts');
      await runOrgsUpdate(org, options, resolveConfig(command));
    });
  registerOrgsQuotaCommand(orgs);
  orgs
    .command('list')
    .description('List all organizations')
    .action(async (_options: unknown, command: Command) => {
      const { runOrgsList } = await import('../organizations/organizations.ts');
      await runOrgsList(resolveConfig(command));
    });
}
