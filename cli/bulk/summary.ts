// What became of the rows of `update`, `delete` and `get --from`, and what to do about those that were rejected.

import type { Resource } from '../../db/model/resource.ts';
import type { Client } from '../api/client.ts';
import { noteUndo } from '../api/undo-hint.ts';
import { CliError, EXIT } from '../errors.ts';
import type { RunResult } from '../import/session/row-run.ts';
import { inputName } from '../input/files.ts';
import type { Config } from '../settings/config.ts';
import { counted, formatCount } from '../terminal/format.ts';
import { printSummaryJson } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';
import type { BulkVerb } from './bulk-job.ts';

export interface BulkReport {
  client: Client;
  verb: BulkVerb;
  resource: Resource;
  input: string;
  isDryRun: boolean;
  isQuiet: boolean;
  result: RunResult;
  /** The reasons of rejected rows, in words. */
  reasons: readonly string[];
  /** The command that sends the rows of an errors file. */
  retry: (errorsFile: string) => string;
  /** The IDs of the requests of this run that deleted records. */
  requestIds: readonly string[];
}

const RESULTS = {
  update: ['updated', 'unchanged'],
  delete: ['deleted'],
  get: ['found'],
} as const;
const DONE = { update: 'Updated', delete: 'Deleted', get: 'Found' } as const;

/** Prints the figures; throws if rows were rejected. */
export async function reportBulk(report: BulkReport, config: Config): Promise<void> {
  const { verb, resource, result, isDryRun } = report;
  const { status, seconds } = result;
  const counts = status === 'already' ? result.total : result.counts;
  const results = [...RESULTS[verb], 'rejected'] as const;
  const rows = results.reduce((sum, name) => sum + counts[name], 0);
  if (verb !== 'get') {
    await printSummaryJson(config, {
      ...{ resource: resource.name, rows },
      ...Object.fromEntries(results.map((name) => [name, counts[name]])),
      ...{ errors_file: result.errorsFile, dry_run: isDryRun, status, seconds },
      ...(verb === 'delete' && !isDryRun && { request_ids: report.requestIds }),
    });
  }
  if (!report.isQuiet) {
    note(sentence(report, rows));
    for (const line of report.reasons) note(line);
    const canUndo = verb === 'delete' && !isDryRun && result.counts.deleted > 0;
    if (canUndo) await noteUndo(report.client, report.requestIds);
  }
  if (counts.rejected > 0) throw rejectedRows(report, rows, counts.rejected);
}

function sentence({ verb, resource, input, isDryRun, result }: BulkReport, rows: number): string {
  const { status, seconds, errorsFile } = result;
  const counts = status === 'already' ? result.total : result.counts;
  const wouldBe = isDryRun ? 'would be ' : '';
  const parts = [...RESULTS[verb], 'rejected' as const].map(
    (name) => `${formatCount(counts[name])} ${wouldBe}${name}`,
  );
  const figures = parts.join(', ');
  if (status === 'already') {
    const where = errorsFile === null ? '' : `; rejected rows are in ${errorsFile}`;
    return `The rows of ${input} were already ${DONE[verb].toLowerCase()} (${figures}${where}). To send them again, use --no-resume.`;
  }
  const noun = counted(rows, resource.singular, resource.name);
  if (isDryRun) return `Checked ${noun}, nothing was written: ${figures} (${seconds} s).`;
  const done = rows - counts.rejected;
  const share = done === rows ? noun : `${formatCount(done)} of ${noun}`;
  return verb === 'get'
    ? `Found ${share} (${seconds} s).`
    : `${DONE[verb]} ${share}: ${figures} (${seconds} s).`;
}

function rejectedRows(
  { verb, isDryRun, input, result, retry }: BulkReport,
  rows: number,
  rejected: number,
): CliError {
  const { errorsFile } = result;
  const be = isDryRun ? 'would be' : rejected === 1 ? 'was' : 'were';
  const more = verb === 'get' && errorsFile === null ? ' To keep those lines, add --errors FILE.' : '';
  const what = verb === 'get' ? 'not found' : 'rejected';
  const where =
    errorsFile === null ? '' : ` See ${errorsFile} for the ${rejected === 1 ? 'reason' : 'reasons'}.`;
  return new CliError(`${formatCount(rejected)} of ${counted(rows, 'row')} ${be} ${what}.${where}`, {
    exitCode: EXIT.rejectedRows,
    nextSteps: [
      verb === 'update'
        ? `correct them ${errorsFile === null ? `in ${inputName(input)}` : 'there'}, then run: ${retry(errorsFile ?? input)}`
        : `check the IDs. A key can see only records of its organization, and deleted records are not found.${more}`,
    ],
  });
}
