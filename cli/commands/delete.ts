// `crm delete`: deletes a record, or those in a file, after a person or --yes confirms it.
import type { Command } from 'commander';
import { addBulkOptions, addResumeOption } from '../bulk/options.ts';
import { actionByOption, lazyAction } from '../settings/lazy-action.ts';
import { dryRunOption } from '../settings/options.ts';

const EXAMPLES = `
Examples:
  crm delete contacts ID
  crm delete contacts --from ids.txt

See "crm help records".`;

/** Adds `crm delete`. */
export function registerDeleteCommand(program: Command): void {
  const command = program
    .command('delete')
    .summary('Delete records')
    .description(
      'Delete a record, or the records in a file. Links to them are removed, and fields that refer to them are cleared. "crm undelete" restores them.',
    )
    .argument('<resource>', 'One of contacts, companies, deals, …')
    .argument('[id]', 'ID of the record')
    .option('--yes', 'Skip the confirmation prompt; required when there is no terminal')
    .addOption(dryRunOption())
    .addHelpText('after', EXAMPLES)
    .action(
      actionByOption(
        'from',
        lazyAction(async () => (await import('../bulk/run.ts')).runDeleteFrom),
        lazyAction(async () => (await import('../records/record.ts')).runDelete),
      ),
    );
  addBulkOptions(command, 'Delete the records whose IDs are in a file, one per line; - for standard input');
  addResumeOption(command);
}
