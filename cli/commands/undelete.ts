// `crm undelete`: restores a deleted record, or all records that a request deleted.
import type { Command } from 'commander';
import { actionByOption, lazyAction } from '../settings/lazy-action.ts';
import { dryRunOption } from '../settings/options.ts';

const EXAMPLES = `
Examples:
  crm undelete contacts ID
  crm undelete --request req_kZ3vQ8mT1xB6cJ0wYp4L

See "crm help changes".`;

/** Adds `crm undelete`. */
export function registerUndeleteCommand(program: Command): void {
  program
    .command('undelete')
    .summary('Restore deleted records')
    .description(
      'Restore a deleted record, or all records that a request deleted, with their links and the references to them',
    )
    .argument('[resource]', 'One of contacts, companies, deals, …')
    .argument('[id]', 'ID of the record')
    .option('--request <id...>', 'Restore all that these requests deleted; "crm delete" prints their IDs')
    .addOption(dryRunOption())
    .addHelpText('after', EXAMPLES)
    .action(
      actionByOption(
        'request',
        lazyAction(async () => (await import('../undelete/request.ts')).runUndeleteRequest),
        lazyAction(async () => (await import('../undelete/record.ts')).runUndelete),
      ),
    );
}
