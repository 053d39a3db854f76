// `crm timeline`: prints what happened to a contact, company or deal, newest first.
import { type Command, Option } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';
import { commaList, limitOption } from '../settings/options.ts';

const EXAMPLES = `
Examples:
  crm timeline contacts ID
  crm timeline companies ID --scope own
  crm timeline deals ID --kinds stage,note --since 30d
  crm timeline contacts ID --all -o ndjson

See "crm help timeline".`;

/** Adds `crm timeline`. */
export function registerTimelineCommand(program: Command): void {
  program
    .command('timeline')
    .summary('Show what happened to a record')
    .description(
      'Print what happened to a contact, company or deal, and what will: interactions, meetings, bookings, notes, tasks, deals, changes of stage and updates, newest first. Times are in UTC.',
    )
    .argument('<resource>', 'One of contacts, companies, deals')
    .argument('<id>', 'ID of the record')
    .option('--kinds <kinds>', 'Only these kinds, separated by commas', commaList)
    .option('--since <time>', 'Only entries at or after this time: 2h, 7d, a date or a time')
    .option('--until <time>', 'Only entries before this time')
    .addOption(
      new Option(
        '--scope <scope>',
        'Of a company: own leaves out what was written to its contacts and deals (default: all)',
      ).choices(['own', 'all']),
    )
    .addOption(limitOption('entries'))
    .option('--all', 'Print the whole timeline')
    .addHelpText('after', EXAMPLES)
    .action(lazyAction(async () => (await import('../timeline/run.ts')).runTimeline));
}
