// `crm import`: imports a file of records, or everything that `crm export all` wrote.
import type { Command } from 'commander';
import {
  addImportFlags,
  readImportFlags,
  refuseContradictions,
  refuseFlagsOfOneFile,
} from '../import/flags.ts';
import { resolveConfig } from '../settings/config.ts';

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
    .argument('<file>', 'File, - for standard input, or with "all" a folder')
    .addHelpText('after', '\nSee "crm help import".')
    .action(async (resource: string, input: string, options: Record<string, unknown>, command: Command) => {
      const flags = readImportFlags(options);
      refuseContradictions(flags);
      if (resource === 'all') refuseFlagsOfOneFile(flags);
      const { runImport } = await import('../import/run.ts');
      await runImport({ resource, input, ...flags }, resolveConfig(command));
    });
  addImportFlags(command);
}
