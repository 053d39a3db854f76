// `crm update`: changes the given fields of one record and prints it.
import type { Command } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';
import { dryRunOption } from '../settings/options.ts';

/** Adds `crm update`. */
export function registerUpdateCommand(program: Command): void {
  program
    .command('update')
    .summary('Update fields of a record')
    .description('Update the given fields of a record, and print it')
    .argument('<resource>', 'One of contacts, companies, deals, …')
    .argument('<id>', 'ID of the record')
    .argument('[field=value...]', 'New values; "field=" clears a field')
    .option('-d, --data <json|@file|->', 'The changes as JSON: text, @file, or - for standard input')
    .addOption(dryRunOption())
    .addHelpText('after', '\nExample:\n  crm update deals ID estimated_value=52000 custom.region=north')
    .action(lazyAction(async () => (await import('../records/record.ts')).runUpdate));
}
