// `crm import`: imports a file of records, or everything that `crm export all` wrote.
import type { Command } from 'commander';
import {
  addImportFlags,
  type ImportFlags,
  readImportFlags,
  refuseContradictions,
  refuseFlagsOfOneFile,
} from '../import/flags.ts';
import { type Config, resolveConfig } from '../settings/config.ts';

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
    .action((resource: string, input: string, options: Record<string, unknown>, command: Command) =>
      run(resource, input, readImportFlags(options), resolveConfig(command)),
    );
  addImportFlags(command);
}

async function run(resource: string, input: string, flags: ImportFlags, config: Config): Promise<void> {
  const request = { resource, input, ...flags };
  refuseContradictions(flags);
  const { reportAll, reportImport } = await import('../import/summary.ts');
  if (resource === 'all') {
    refuseFlagsOfOneFile(flags);
    const { importAll } = await import('../import/all/import-all.ts');
    return reportAll(await importAll(request, config), request, config);
  }
  const { runImport, suggestMap } = await import('../import/import-file.ts');
  if (flags.suggestMap) return suggestMap(request);
  await reportImport(await runImport(request, config), request, config);
}
