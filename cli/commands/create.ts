// `crm create`: creates a record and prints it.
import type { Command } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';
import { dryRunOption } from '../settings/options.ts';

/** Adds `crm create`. */
export function registerCreateCommand(program: Command): void {
  program
    .command('create')
    .summary('Create a record')
    .description('Create a record from field=value pairs or JSON, and print it')
    .argument('<resource>', 'One of contacts, companies, deals, …')
    .argument('[field=value...]', 'Values of fields; custom.key=value for custom fields')
    .option('-d, --data <json|@file|->', 'The record as JSON: text, @file, or - for standard input')
    .addOption(dryRunOption())
    .addHelpText(
      'after',
      '\nExamples:\n  crm create companies domain=example.com name="Example Ltd" employee_count=250\n  crm create contacts -d @contact.json',
    )
    .action(lazyAction(async () => (await import('../records/record.ts')).runCreate));
}
