// What to do about rejected rows: another mapping, flags that mend them, or their cells in the errors file.
import { inputName } from '../input/files.ts';
import { counted } from '../terminal/format.ts';
import type { FolderSummary } from './all/folder-job.ts';
import { importCommand, readImportFlags, repeatedFlags } from './flags.ts';
import type { ImportRequest, ImportSummary } from './request.ts';
import { isOfSameImport, type SuggestedFlags, withSuggestedFlags } from './suggested-flags.ts';

/** The next steps after a run that rejected rows, the one that brings most of them in first. */
export function nextStepsAfter(summary: ImportSummary, request: ImportRequest): string[] {
  const { diagnosis, status, otherMapping, errors_file: errors } = summary;
  if (status === 'already') return [correctCells(summary, request)];
  const more =
    status === 'stopped'
      ? ['run the same command again to go on; --stop-after counts the rejected rows of each run.']
      : [];
  if (otherMapping !== null) return otherColumns(summary, request, otherMapping);
  const { changes, orElse, isWhole } = diagnosis;
  const alternatives = orElse.map(
    (change) =>
      `or, where that is meant: ${commandWith(withSuggestedFlags(changes, change), summary, request)}`,
  );
  if (Object.keys(changes).length === 0) {
    return [...more, correctCells(summary, request), ...alternatives];
  }
  const rest =
    isWhole || errors === null
      ? []
      : [`then correct the rest in ${errors}, and run: ${commandToRetry({}, summary, request, errors)}`];
  return [commandWith(changes, summary, request), ...alternatives, ...rest, ...more];
}

/** Where no cell of a column fitted the field, the mapping is wrong and not the cells. */
function otherColumns(
  { diagnosis: { strangeColumns } }: ImportSummary,
  request: ImportRequest,
  otherMapping: ImportRequest,
): string[] {
  const named = strangeColumns.map((header) => `"${header}"`).join(', ');
  const what = `${named} ${strangeColumns.length === 1 ? 'is' : 'are'} mapped to what no row has there`;
  return [
    importCommand(afresh(otherMapping)),
    `this is the mapping and not the cells: ${what}. The command above takes another; --map 'Header=field' says which.`,
    ...(request.input === '-' ? [`${inputName('-')} has to be given again.`] : []),
  ];
}

function correctCells(summary: ImportSummary, request: ImportRequest): string {
  const { errors_file: errors, dry_run: isDryRun, status, rejected, diagnosis } = summary;
  const way = diagnosis.isMissing ? 'create what they name, or correct them' : 'correct them';
  if (isDryRun) return `${way} in ${inputName(request.input)}, then run: ${importCommand(request)}`;
  if (errors !== null) return `${way} there, then run: ${commandToRetry({}, summary, request, errors)}`;
  if (status !== 'already') return 'correct them, or name a file for them with --errors FILE.';
  return `the errors file is not where it was: if ${counted(rejected, 'row')} in it ${rejected === 1 ? 'is' : 'are'} not in yet, put them into a file of another name, correct them there and import that.`;
}

/** The command that brings rejected rows in with other flags: from the input where it can be gone on with, else from the errors file. */
function commandWith(changes: SuggestedFlags, summary: ImportSummary, request: ImportRequest): string {
  const { errors_file: errors, dry_run: isDryRun, diagnosis } = summary;
  const { isNothingIn } = diagnosis;
  const isInput = isDryRun || (request.input !== '-' && (isNothingIn || isOfSameImport(changes)));
  if (isInput || errors === null) return importCommand(withSuggestedFlags(afresh(request), changes));
  return commandToRetry(changes, summary, request, errors);
}

/** Without --no-resume, which would import every row again. */
function afresh(request: ImportRequest): ImportRequest {
  return { ...request, isResumeWanted: true };
}

/** The command that imports an errors file the way its input was. */
function commandToRetry(
  changes: SuggestedFlags,
  summary: ImportSummary,
  request: ImportRequest,
  errors: string,
): string {
  // The few dates and numbers in the errors file might be taken the other way round.
  const dateFormat = request.dateFormat ?? summary.date_format ?? null;
  const decimalComma = request.decimalComma || summary.decimal_comma === true;
  const repeated = repeatedFlags({ ...request, dateFormat, decimalComma });
  const again = { ...readImportFlags({}), ...repeated, resource: request.resource, input: errors };
  return importCommand(withSuggestedFlags(again, changes));
}

/** The next steps after the import of a folder that rejected some of it. */
export function nextStepsAfterFolder({ resources, links, status }: FolderSummary): string[] {
  if (status === 'already')
    return ['correct what the errors files hold, and import each by itself; the run before named them.'];
  const records = resources.flatMap(({ resource, errors_file: errors }) => {
    if (errors === null) return [];
    const again = { ...readImportFlags({}), resource, input: errors };
    return [`correct the rows of ${errors}, then run: ${importCommand(again)}`];
  });
  if (links === null || links.errors_file === null) return records;
  const what = `the links in ${links.errors_file} lead to records that are not in`;
  return [...records, `${what}; once they are, make them with: crm link RESOURCE/ID/LINK CHILD`];
}
