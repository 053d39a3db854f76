// The summary of an import: figures, the first rejected rows, and what to do about them.
import { singularOf } from '../../db/model/text.ts';
import { CliError, EXIT } from '../errors.ts';
import type { Config } from '../settings/config.ts';
import { counted, formatCount } from '../terminal/format.ts';
import { printSummaryJson } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';
import { nextStepsAfter, nextStepsAfterFolder } from './advice.ts';
import type { FolderSummary } from './all/folder-job.ts';
import type { ImportRequest, ImportSummary } from './request.ts';

/** Prints the summary: figures as JSON on stdout if requested, text on stderr; throws if rows were rejected. */
export async function reportImport(
  summary: ImportSummary,
  request: ImportRequest,
  config: Config,
): Promise<void> {
  const { diagnosis, otherMapping: _, ...figures } = summary;
  await printSummaryJson(config, figures);
  if (!request.isQuiet) {
    note(sentence(summary, request.input));
    for (const line of diagnosis.lines) note(line);
  }
  if (summary.rejected === 0) return;
  throw rejectedRows(summary, request);
}

/** The same for a folder. */
export async function reportAll(
  summary: FolderSummary,
  request: ImportRequest,
  config: Config,
): Promise<void> {
  await printSummaryJson(config, summary);
  if (summary.status === 'already' && !request.isQuiet) note(alreadyThere(request.input, ''));
  const { rejected } = summary;
  if (rejected === 0) return;
  throw new CliError(
    `${counted(rejected, 'record or link', 'records or links')} ${rejected === 1 ? 'was' : 'were'} rejected.`,
    {
      exitCode: EXIT.rejectedRows,
      nextSteps: nextStepsAfterFolder(summary, request),
    },
  );
}

function alreadyThere(input: string, figures: string): string {
  return `${input} was already imported${figures}. To import it again, use --no-resume.`;
}

function sentence(summary: ImportSummary, file: string): string {
  const { resource, rows, created, updated, unchanged, skipped, rejected, errors_file: errors } = summary;
  const verb = summary.dry_run ? 'would be ' : '';
  const parts = [
    `${formatCount(created)} ${verb}created`,
    ...(updated > 0 ? [`${formatCount(updated)} ${verb}updated`] : []),
    ...(unchanged > 0 ? [`${formatCount(unchanged)} ${verb}unchanged`] : []),
    ...(skipped > 0 ? [`${formatCount(skipped)} ${verb}skipped`] : []),
    `${formatCount(rejected)} ${verb}rejected`,
  ].join(', ');
  if (summary.status === 'already') {
    return alreadyThere(file, ` (${parts}${errors === null ? '' : `; rejected rows are in ${errors}`})`);
  }
  const { companies_created: companies, stages_created: stages } = summary;
  const made = [
    ...(companies > 0
      ? [`, ${counted(companies, 'missing company', 'missing companies')} ${verb}created`]
      : []),
    ...(stages > 0 ? [`, ${counted(stages, 'missing stage')} ${verb}created`] : []),
  ].join('');
  const imported = created + updated + unchanged;
  const done = imported === rows ? '' : `${formatCount(imported)} of `;
  const noun = counted(rows, singularOf(resource), resource);
  const began = summary.dry_run ? `Checked ${noun}, nothing was written` : `Imported ${done}${noun}`;
  return `${began}: ${parts}${made} (${summary.seconds} s).`;
}

function rejectedRows(summary: ImportSummary, request: ImportRequest): CliError {
  const { rows, rejected, errors_file: errors, dry_run: isDryRun } = summary;
  const verb = isDryRun ? 'would be' : rejected === 1 ? 'was' : 'were';
  const where = errors === null ? '' : ` See ${errors} for the ${rejected === 1 ? 'reason' : 'reasons'}.`;
  return new CliError(`${formatCount(rejected)} of ${counted(rows, 'row')} ${verb} rejected.${where}`, {
    exitCode: EXIT.rejectedRows,
    nextSteps: nextStepsAfter(summary, request),
  });
}
