// `crm upsert`: updates the record that is found by an external ID, email or domain, or creates one.
import { type Command, Option } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';
import { collect, dryRunOption } from '../settings/options.ts';

const EXAMPLES = `
Examples:
  crm upsert contacts email=ada@example.com first_name=Ada
  crm upsert deals --external-id hubspot:9001 name="Difference engine" estimated_value=48000
  crm upsert companies domain=example.com industry=Mining --on-match fill

See "crm help records".`;

/** Adds `crm upsert`. */
export function registerUpsertCommand(program: Command): void {
  program
    .command('upsert')
    .summary('Update a record, or create it')
    .description('Update the record with the given external ID, email or domain, or create it, and print it')
    .argument('<resource>', 'One of contacts, companies, deals, …')
    .argument('[field=value...]', 'Values of fields; custom.key=value for custom fields')
    .option('-d, --data <json|@file|->', 'The record as JSON: text, @file, or - for standard input')
    .option(
      '--external-id <source:id>',
      'ID of the record in another system, to find it by; a new ID is added to the record',
    )
    .option(
      '--match <field>',
      'Find the record by external_id, email or domain; repeatable, in order',
      collect,
    )
    .addOption(
      new Option('--on-match <what>', 'What to do with a record that is found (default: update)').choices([
        'update',
        'fill',
        'keep',
      ]),
    )
    .addOption(
      new Option('--on-missing <what>', 'What to do if there is none (default: create)').choices([
        'create',
        'fail',
      ]),
    )
    .addOption(dryRunOption())
    .addHelpText('after', EXAMPLES)
    .action(lazyAction(async () => (await import('../records/upsert.ts')).runUpsert));
}
