// `crm get`: prints one record.
import type { Command } from 'commander';
import { resolveConfig } from '../settings/config.ts';

/** Adds `crm get`. */
export function registerGetCommand(program: Command): void {
  program
    .command('get')
    .summary('Show a record')
    .description('Show a record, or the one associated with it, such as meetings/ID/deal')
    .argument('<resource>', 'One of contacts, companies, deals, …, or meetings/ID/deal')
    .argument('[id]', 'ID of the record')
    .option('--fields <a,b>', 'Only these fields; custom.key for custom fields')
    .action(
      async (resource: string, id: string | undefined, options: { fields?: string }, command: Command) => {
        const { runGet } = await import('../records/record.ts');
        await runGet(resource, id, options, resolveConfig(command));
      },
    );
}
