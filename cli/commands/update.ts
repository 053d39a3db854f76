// `crm update`: changes the given fields of one record and prints it, or those of many records from a file.
import type { Command } from 'commander';
import { addBulkOptions, addResumeOption } from '../bulk/options.ts';
import { actionByOption, lazyAction } from '../settings/lazy-action.ts';
import { dryRunOption } from '../settings/options.ts';

const EXAMPLES = `
Examples:
  crm update deals ID estimated_value=52000 custom.region=north
  crm update deals --from changes.ndjson
  crm list deals --filter owner_id=ID --all --fields id | crm update deals --from - owner_id=ID

See "crm help records".`;

/** Adds `crm update`. */
export function registerUpdateCommand(program: Command): void {
  const command = program
    .command('update')
    .summary('Update fields of records')
    .description('Update the given fields of a record, and print it; or update the records in a file')
    .argument('<resource>', 'One of contacts, companies, deals, …')
    .argument('[id]', 'ID of the record')
    .argument('[field=value...]', 'New values; "field=" clears a field')
    .option('-d, --data <json|@file|->', 'The changes as JSON: text, @file, or - for standard input')
    .addOption(dryRunOption())
    .addHelpText('after', EXAMPLES)
    .action(
      actionByOption(
        'from',
        lazyAction(async () => (await import('../bulk/run.ts')).runUpdateFrom),
        lazyAction(async () => (await import('../records/record.ts')).runUpdate),
      ),
    );
  addBulkOptions(
    command,
    'Update the records in a file of {"id": …, "field": …} lines; - for standard input',
  );
  addResumeOption(command);
}
