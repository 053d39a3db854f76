// `crm count`: prints how many records there are, or how many meet a condition.
import type { Command } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';
import { whereOption } from '../settings/options.ts';

const EXAMPLES = `
Examples:
  crm count contacts
  crm count deals --where 'status = open and estimated_value >= 10000'

See "crm help query".`;

/** Adds `crm count`. */
export function registerCountCommand(program: Command): void {
  program
    .command('count')
    .summary('Count records')
    .description(
      'Print the number of records, or of those that meet a condition. "At least" means that the server stopped counting.',
    )
    .argument('<resource>', 'One of contacts, companies, deals, …')
    .addOption(whereOption())
    .addHelpText('after', EXAMPLES)
    .action(lazyAction(async () => (await import('../records/count.ts')).runCount));
}
