// `crm list`: pages through a resource and prints its records.
import { type Command, Option } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';
import {
  apiOption,
  collect,
  count,
  fieldsOption,
  includeOption,
  limitOption,
  whereOption,
} from '../settings/options.ts';

const EXAMPLES = `
Examples:
  crm list companies --limit 50
  crm list deals --filter status=open --fields id,name,estimated_value -o csv
  crm list deals --filter stage=Proposal --filter created_since=7d
  crm list deals --where 'status = open and estimated_close_date < ahead 30d' --sort-by estimated_value
  crm list contacts --where "deals is null and (title contains 'chief' or custom.plan = gold)"

See "crm help query" for conditions.`;

/** Adds `crm list`. */
export function registerListCommand(program: Command): void {
  program
    .command('list')
    .summary('List records')
    .description('List the records of a resource, or those linked to one, such as deals/ID/contacts')
    .argument('<resource>', 'One of contacts, companies, deals, …, or a sub-resource')
    .addOption(limitOption('records'))
    .option('--all', 'List all records')
    .option('--envelope', 'Print one page as the server sent it')
    .option('--cursor <cursor>', 'Continue where an earlier list ended')
    .option(
      '--sort-by <field>',
      'Field to sort by: created_at, updated_at, or another of the resource, such as estimated_value',
    )
    .addOption(
      new Option('--sort-direction <direction>', 'Order: desc is newest first').choices(['asc', 'desc']),
    )
    .addOption(whereOption())
    .option('--filter <key=value>', 'Only records that match; repeatable', collect)
    .addOption(fieldsOption())
    .addOption(includeOption())
    .addOption(
      new Option(
        '--watch [seconds]',
        'Redraw the table every 2 seconds, or at the given interval, until Ctrl-C',
      ).argParser(count),
    )
    .addOption(apiOption())
    .addHelpText('after', EXAMPLES)
    .action(lazyAction(async () => (await import('../records/list.ts')).runList));
}

/** What the help says of the resource that the words name; only then are the resources loaded. */
export async function helpOfList(words: readonly string[]): Promise<string> {
  const { resourceHelp } = await import('../records/filter-help.ts');
  return resourceHelp(words);
}
