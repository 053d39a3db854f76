// `crm history`: prints the changes of a record, newest first.
import type { Command } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';
import { limitOption } from '../settings/options.ts';

const EXAMPLES = `
Examples:
  crm history deals ID
  crm history contacts ID --all -o json

See "crm help changes".`;

/** Adds `crm history`. */
export function registerHistoryCommand(program: Command): void {
  program
    .command('history')
    .summary('Show the changes of a record')
    .description(
      'Print the changes of a record, newest first. Works for deleted records too, as long as the server keeps their changes. Times are in UTC.',
    )
    .argument('<resource>', 'One of contacts, companies, deals, …')
    .argument('<id>', 'ID of the record')
    .addOption(limitOption('changes'))
    .option('--all', 'Print all changes')
    .addHelpText('after', EXAMPLES)
    .action(lazyAction(async () => (await import('../follow/history.ts')).runHistory));
}
