// `crm get`: prints one record.
import type { Command } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';

/** Adds `crm get`. */
export function registerGetCommand(program: Command): void {
  program
    .command('get')
    .summary('Show a record')
    .description('Show a record, or the one associated with it, such as meetings/ID/deal')
    .argument('<resource>', 'One of contacts, companies, deals, …, or meetings/ID/deal')
    .argument('[id]', 'ID of the record')
    .option('--fields <a,b>', 'Only these fields; custom.key for custom fields')
    .action(lazyAction(async () => (await import('../records/record.ts')).runGet));
}
