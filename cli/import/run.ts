// Carries out `crm import`: of a file, of a folder, or only the mapping of a file.
import type { Config } from '../settings/config.ts';
import { importAll } from './all/import-all.ts';
import { readImportFlags, refuseContradictions, refuseFlagsOfOneFile } from './flags.ts';
import { importFile, suggestMap } from './import-file.ts';
import { reportAll, reportImport } from './summary.ts';

/** Imports and reports; throws a CliError if something was rejected. */
export async function runImport(
  resource: string,
  input: string,
  options: Record<string, unknown>,
  config: Config,
): Promise<void> {
  const flags = readImportFlags(options);
  const request = { resource, input, ...flags };
  refuseContradictions(flags);
  if (resource === 'all') {
    refuseFlagsOfOneFile(flags);
    return reportAll(await importAll(request, config), request, config);
  }
  if (flags.suggestMap) return suggestMap(request);
  const imported = await importFile(request, config);
  await reportImport(imported.summary, imported.request, config);
}
