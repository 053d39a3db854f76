// `crm webhooks`: where changes are sent, and what was delivered.
import { type Command, Option } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';
import { count, dryRunOption, limitOption } from '../settings/options.ts';

const EXAMPLES = `
Examples:
  crm webhooks create url=https://example.com/hooks 'events=contacts.created,deals.*'
  crm webhooks ping ID
  crm webhooks deliveries ID

See "crm help webhooks".`;

const FIELDS = 'url, events (separated by commas), description, is_enabled';

/** Adds `crm webhooks list`, `get`, `create`, `update`, `delete`, `ping`, `rotate`, `replay` and `deliveries`. */
export function registerWebhooksCommand(program: Command): void {
  const webhooks = program
    .command('webhooks')
    .summary('Send changes to URLs')
    .description('Manage webhooks: URLs to which the server sends changes as they happen')
    .addHelpText('after', EXAMPLES);
  webhooks
    .command('list')
    .description('List webhooks, the newest first')
    .addHelpText('after', '\nExamples:\n  crm webhooks list')
    .action(lazyAction(async () => (await import('../webhooks/run.ts')).runWebhooksList));
  webhooks
    .command('get')
    .description('Print a webhook')
    .argument('<id>', 'ID of the webhook')
    .addHelpText('after', '\nExamples:\n  crm webhooks get ID')
    .action(lazyAction(async () => (await import('../webhooks/run.ts')).runWebhooksGet));
  registerWrites(webhooks);
  registerActions(webhooks);
}

function registerWrites(webhooks: Command): void {
  webhooks
    .command('create')
    .summary('Create a webhook')
    .description('Create a webhook, and print it with its secret, which is shown only once')
    .argument('[field=value...]', FIELDS)
    .option('-d, --data <json|@file|->', 'The webhook as JSON: text, @file, or - for standard input')
    .addOption(dryRunOption())
    .addHelpText(
      'after',
      '\nExamples:\n  crm webhooks create url=https://example.com/hooks \'events=contacts.created,deals.*\'\n  crm webhooks create -d \'{"url": "https://example.com/hooks", "events": ["*"]}\'',
    )
    .action(lazyAction(async () => (await import('../webhooks/run.ts')).runWebhooksCreate));
  webhooks
    .command('update')
    .description('Change the given fields of a webhook, and print it')
    .argument('<id>', 'ID of the webhook')
    .argument('[field=value...]', FIELDS)
    .option('-d, --data <json|@file|->', 'The fields as JSON: text, @file, or - for standard input')
    .addOption(dryRunOption())
    .addHelpText('after', '\nExamples:\n  crm webhooks update ID is_enabled=true')
    .action(lazyAction(async () => (await import('../webhooks/run.ts')).runWebhooksUpdate));
  webhooks
    .command('delete')
    .description('Delete a webhook; changes that are waiting to be sent to it are dropped')
    .argument('<id>', 'ID of the webhook')
    .option('--yes', 'Skip the confirmation prompt; required when there is no terminal')
    .addOption(dryRunOption())
    .addHelpText('after', '\nExamples:\n  crm webhooks delete ID')
    .action(lazyAction(async () => (await import('../webhooks/run.ts')).runWebhooksDelete));
}

function registerActions(webhooks: Command): void {
  webhooks
    .command('ping')
    .summary('Send a ping to a webhook')
    .description('Have the server send a ping to a webhook, and wait up to 20 seconds for the result')
    .argument('<id>', 'ID of the webhook')
    .addHelpText('after', '\nExamples:\n  crm webhooks ping ID')
    .action(lazyAction(async () => (await import('../webhooks/ping.ts')).runWebhooksPing));
  webhooks
    .command('rotate')
    .summary('Give a webhook a new secret')
    .description('Give a webhook a new secret, and print it. For 24 hours, the old secret also signs.')
    .argument('<id>', 'ID of the webhook')
    .addHelpText('after', '\nExamples:\n  crm webhooks rotate ID')
    .action(lazyAction(async () => (await import('../webhooks/run.ts')).runWebhooksRotate));
  webhooks
    .command('replay')
    .summary('Replay changes')
    .description(
      'Replay changes: send them to a webhook again, since a time or from one sequence number to another',
    )
    .argument('<id>', 'ID of the webhook')
    .addOption(
      new Option('--since <time>', 'A duration like 1h, or a time like 2027-01-31T09:00:00Z').conflicts([
        'from',
        'to',
      ]),
    )
    .option('--from <n>', 'Sequence number of the first change', count)
    .option('--to <n>', 'Sequence number of the last change', count)
    .addHelpText('after', '\nExamples:\n  crm webhooks replay ID --since 2h')
    .action(lazyAction(async () => (await import('../webhooks/run.ts')).runWebhooksReplay));
  webhooks
    .command('deliveries')
    .description('List the attempts to deliver to a webhook, the newest first')
    .argument('<id>', 'ID of the webhook')
    .addOption(limitOption('deliveries'))
    .option('--all', 'List all deliveries of the last 30 days')
    .addHelpText(
      'after',
      '\nExamples:\n  crm webhooks deliveries ID\n  crm webhooks deliveries ID --all -o csv',
    )
    .action(lazyAction(async () => (await import('../webhooks/run.ts')).runWebhooksDeliveries));
}
