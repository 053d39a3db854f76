// `crm export`: writes a resource, or everything, to files or stdout.
import { type Command, Option } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';
import { apiOption, collect, fieldsOption, whereOption } from '../settings/options.ts';

const EXAMPLES = `
Examples:
  crm export all --out everything
  crm export deals --where 'closed_at >= 2026-01-01' --out closed.csv

See "crm help export", and "crm help query" for conditions.`;

/** Adds `crm export`. */
export function registerExportCommand(program: Command): void {
  program
    .command('export')
    .summary('Export records to a file, or all data to a folder')
    .description('Export the records of a resource to a file or stdout, or with "all" everything to a folder')
    .argument('<resource>', 'One of contacts, companies, deals, …, or all')
    .addOption(
      new Option(
        '--format <format>',
        'Format (default: from the extension of --out, otherwise ndjson)',
      ).choices(['csv', 'ndjson', 'json']),
    )
    .option(
      '--out <file>',
      'File to write (- is stdout), or new folder with "all"; appears once it is complete',
    )
    .addOption(whereOption())
    .option('--filter <key=value>', 'Only records that match; repeatable', collect)
    .addOption(fieldsOption())
    .option('--excel-safe', 'Escape CSV cells that a spreadsheet would run as formulas')
    .option('--force', 'Overwrite an existing file')
    .option('--resume', 'Continue an interrupted export to the same place')
    .addOption(apiOption())
    .addHelpText('after', EXAMPLES)
    .action(lazyAction(async () => (await import('../export/run.ts')).runExport));
}
