// Carries out `crm import`: of a file, of a folder, or only the mapping of a file.
import type { Config } from '../settings/config.ts';
import { importAll } from './all/import-all.ts';
import { importFile, suggestMap } from './import-file.ts';
import type { ImportRequest } from './request.ts';
import { reportAll, reportImport } from './summary.ts';

/** Imports and reports; throws a CliError if something was rejected. */
export async function runImport(request: ImportRequest, config: Config): Promise<void> {
  if (request.resource === 'all') return reportAll(await importAll(request, config), request, config);
  if (request.suggestMap) return suggestMap(request);
  await reportImport(await importFile(request, config), request, config);
}
