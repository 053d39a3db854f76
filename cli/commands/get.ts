// `crm get`: prints one record, or those whose IDs are in a file.
import type { Command } from 'commander';
import { addBulkOptions } from '../bulk/options.ts';
import { actionByOption, lazyAction } from '../settings/lazy-action.ts';
import { fieldsOption, includeOption } from '../settings/options.ts';

const EXAMPLES = `
Examples:
  crm get contacts ID
  crm get contacts ID --include company,deals
  crm get contacts --from ids.txt -o csv > contacts.csv

See "crm help records".`;

/** Adds `crm get`. */
export function registerGetCommand(program: Command): void {
  const command = program
    .command('get')
    .summary('Show records by ID')
    .description(
      'Show a record, the one associated with it, such as meetings/ID/deal, or the records in a file',
    )
    .argument('<resource>', 'One of contacts, companies, deals, …, or meetings/ID/deal')
    .argument('[id]', 'ID of the record')
    .addOption(fieldsOption())
    .addOption(includeOption())
    .addHelpText('after', EXAMPLES)
    .action(
      actionByOption(
        'from',
        lazyAction(async () => (await import('../bulk/run.ts')).runGetFrom),
        lazyAction(async () => (await import('../records/record.ts')).runGet),
      ),
    );
  addBulkOptions(command, 'Show the records whose IDs are in a file, one per line; - for standard input');
}
