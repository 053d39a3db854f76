// `crm delete`: permanently deletes a record, after a person or --yes confirms it.
import type { Command } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';
import { dryRunOption } from '../settings/options.ts';

/** Adds `crm delete`. */
export function registerDeleteCommand(program: Command): void {
  program
    .command('delete')
    .summary('Delete a record')
    .description(
      'Delete a record permanently. Links to it are removed, and fields that refer to it are cleared.',
    )
    .argument('<resource>', 'One of contacts, companies, deals, …')
    .argument('<id>', 'ID of the record')
    .option('--yes', 'Skip the confirmation prompt; required when there is no terminal')
    .addOption(dryRunOption())
    .action(lazyAction(async () => (await import('../records/record.ts')).runDelete));
}
