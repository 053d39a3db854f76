// `crm report`: sums up deals by stage, and interactions over time.
import { type Command, Option } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';
import { collect, whereOption } from '../settings/options.ts';

const PIPELINE_EXAMPLES = `
Examples:
  crm report pipeline
  crm report pipeline --filter status=open -o csv
  crm report pipeline --where 'estimated_close_date < ahead 90d'`;

const ACTIVITY_EXAMPLES = `
Examples:
  crm report activity
  crm report activity --since 12w --by month
  crm report activity --filter type=EMAIL -o json`;

/** Adds `crm report pipeline` and `crm report activity`. */
export function registerReportCommand(program: Command): void {
  const report = program
    .command('report')
    .summary('Sum up deals by stage, or interactions over time')
    .description('Print a report of all records that the key can see. Reads 200 records per request.');
  report
    .command('pipeline')
    .description('Sum up deals by stage and currency, also weighted by the probabilities of the stages')
    .addOption(filterOption())
    .addOption(whereOption())
    .addHelpText('after', PIPELINE_EXAMPLES)
    .action(lazyAction(async () => (await import('../report/pipeline.ts')).runPipelineReport));
  report
    .command('activity')
    .description('Count interactions by type over time, in UTC')
    .option('--since <when>', 'Since when: a duration like 90d, or a date', '12w')
    .addOption(
      new Option('--by <period>', 'Length of a period').choices(['day', 'week', 'month']).default('week'),
    )
    .addOption(filterOption())
    .addOption(whereOption())
    .addHelpText('after', ACTIVITY_EXAMPLES)
    .action(lazyAction(async () => (await import('../report/activity.ts')).runActivityReport));
}

function filterOption(): Option {
  return new Option('--filter <key=value>', 'Only records that match; repeatable').argParser(collect);
}
