// `crm orgs`: creates, lists, changes and deletes organizations.
import type { Command } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';
import { requestsOrDefault } from '../settings/options.ts';
import { registerOrgsQuotaCommand } from './orgs-quota.ts';

/** Adds `crm orgs create`, `update`, `rename`, `delete`, `quota` and `list`. */
export function registerOrgsCommand(program: Command): void {
  const orgs = program
    .command('orgs')
    .summary('Create, change, list and delete organizations')
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
    .option(
      '--requests-per-minute <n>',
      'Requests per minute for all its keys together, or default for the limit of the server',
      requestsOrDefault,
    )
    .addHelpText(
      'after',
      '\nExamples:\n  crm orgs update Example --key-expiry 90d\n  crm orgs update Example --requests-per-minute 5000',
    )
    .action(lazyAction(async () => (await import('../organizations/update.ts')).runOrgsUpdate));
  orgs
    .command('rename')
    .description('Give an organization another name, and print it')
    .usage('[options] [org] <name>')
    .argument('<org>', 'Name or ID of the organization (default: the only one)')
    .argument('[name]', 'The new name, unique')
    .addHelpText('after', '\nExample:\n  crm orgs rename Example "Example Inc"')
    .action(lazyAction(async () => (await import('../organizations/update.ts')).runOrgsRename));
  orgs
    .command('delete')
    .summary('Delete an organization with everything that it has')
    .description(
      'Delete an organization with all its records, users, keys and webhooks, after a backup of the database. Servers may be running. Entries in the audit log stay.',
    )
    .argument('[org]', 'Name or ID of the organization (default: the only one)')
    .option('--confirm <name>', 'The name of the organization, to confirm that it will be deleted')
    .option('--no-backup', 'Delete it without a backup')
    .option('--quiet', 'Print errors only')
    .addHelpText('after', '\nExample:\n  crm orgs delete Example --confirm Example')
    .action(lazyAction(async () => (await import('../organizations/delete.ts')).runOrgsDelete));
  registerOrgsQuotaCommand(orgs);
  orgs
    .command('list')
    .description('List all organizations')
    .addHelpText('after', '\nExamples:\n  crm orgs list')
    .action(lazyAction(async () => (await import('../organizations/organizations.ts')).runOrgsList));
}
