// `crm orgs`: creates, lists and updates organizations.
import type { Command } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';
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
    .addHelpText(
      'after',
      '\nExamples:\n  crm orgs create "Acme Inc"\n  crm orgs create "Acme Inc" --key-expiry 90d',
    )
    .action(lazyAction(async () => (await import('../organizations/organizations.ts')).runOrgsCreate));
  orgs
    .command('update')
    .description('Update the settings of an organization, and print it')
    .argument('[org]', 'Name or ID of the organization (default: the only one)')
    .option('--key-expiry <duration>', 'Default lifetime of API keys issued from now on, or none')
    .addHelpText(
      'after',
      '\nExamples:\n  crm orgs update "Acme Inc" --key-expiry 90d\n  crm orgs update --key-expiry none',
    )
    .action(lazyAction(async () => (await import('../organizations/organizations.ts')).runOrgsUpdate));
  registerOrgsQuotaCommand(orgs);
  orgs
    .command('list')
    .description('List all organizations')
    .addHelpText('after', '\nExamples:\n  crm orgs list')
    .action(lazyAction(async () => (await import('../organizations/organizations.ts')).runOrgsList));
}
