// `crm import`: imports a file of records, or everything that `crm export all` wrote.
import type { Command } from 'commander';
import { addImportFlags } from '../import/flags.ts';
import { lazyAction } from '../settings/lazy-action.ts';
import { inputNamed } from '../settings/standard-input.ts';

const EXAMPLES = `
Examples:
  crm import contacts people.csv --dry-run
  crm import contacts people.csv --custom --create-missing
  crm import deals deals.csv --map 'Deal title=name' --external-id 'Deal ID' --source hubspot
  crm import all everything

See "crm help import".`;

/** Adds `crm import`. */
export function registerImportCommand(program: Command): void {
  const command = program
    .command('import')
    .summary('Import records from CSV, JSON, NDJSON or vCard files')
    .description('Import the records of a resource from a file, or a folder that "crm export all" wrote')
    .argument(
      '<resource>',
      'One of companies, contacts, pipelines, deals, tasks, notes, segments, interactions, or all',
    )
    .argument('<file>', 'File, - for standard input, or with "all" a folder', inputNamed)
    .addHelpText('after', EXAMPLES)
    .action(lazyAction(async () => (await import('../import/run.ts')).runImport));
  addImportFlags(command);
}
