// What to do about rejected rows: another mapping, flags that fix them, or corrected cells in the errors file.
import { inputName } from '../input/files.ts';
import { counted } from '../terminal/format.ts';
import type { FolderSummary } from './all/folder-job.ts';
import { importCommand, readImportFlags, repeatedFlags } from './flags.ts';
import type { ImportRequest, ImportSummary } from './request.ts';
import { isOfSameImport, type SuggestedFlags, withSuggestedFlags } from './suggested-flags.ts';

/** The next steps after a run that rejected rows; the one that imports most of them comes first. */
export function nextStepsAfter(summary: ImportSummary, request: ImportRequest): string[] {
  const { diagnosis, status, otherMapping, errors_file: errors } = summary;
  if (status === 'already') return [correctCells(summary, request)];
  const more =
    status === 'stopped'
      ? ['run the same command again to continue. --stop-after counts the rejected rows of each run.']
      : [];
  if (otherMapping !== null) return otherColumns(summary, request, otherMapping);
  const { changes, orElse, isWhole } = diagnosis;
  const alternatives = orElse.map(
    (change) => `or, if that is what you want: ${commandWith(change, summary, request)}`,
  );
  if (Object.keys(changes).length === 0) {
    return [...more, correctCells(summary, request), ...alternatives];
  }
  const rest =
    isWhole || errors === null
      ? []
      : [`then correct the rest in ${errors} and run: ${commandToRetry(changes, summary, request, errors)}`];
  return [commandWith(changes, summary, request), ...alternatives, ...rest, ...more];
}

/** If no cell of a column fits the field, the mapping is wrong and not the cells. */
function otherColumns(
  { diagnosis: { strangeColumns } }: ImportSummary,
  request: ImportRequest,
  otherMapping: ImportRequest,
): string[] {
  const named = strangeColumns.map((header) => `"${header}"`).join(', ');
  const what = `no row has a valid value in ${named}`;
  return [
    importCommand(afresh(otherMapping)),
    `check the mapping: ${what}. The command above uses another one. To choose your own, use --map 'Header=field'.`,
    ...(request.input === '-' ? [`provide ${inputName('-')} again.`] : []),
  ];
}

function correctCells(summary: ImportSummary, request: ImportRequest): string {
  const { errors_file: errors, dry_run: isDryRun, status, rejected, diagnosis } = summary;
  const [rows, them] = rejected === 1 ? ['row', 'it'] : ['rows', 'them'];
  const way = diagnosis.isMissing ? `create the missing records, or correct the ${rows}` : `correct ${them}`;
  if (isDryRun) return `${way} in ${inputName(request.input)}, then run: ${importCommand(request)}`;
  if (errors !== null) return `${way} there, then run: ${commandToRetry({}, summary, request, errors)}`;
  if (status !== 'already') return `correct ${them}, or save ${them} with --errors FILE.`;
  return `find the errors file, which was moved. If its ${counted(rejected, 'row')} ${rejected === 1 ? 'is' : 'are'} not imported yet, copy and correct them in a new file, and import that.`;
}

/** The command that imports rejected rows with other flags: from the input if it can continue, else from the errors file. */
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
  // The errors file has too few dates and numbers to decide how to read them.
  const dateFormat = request.dateFormat ?? summary.date_format ?? null;
  const decimalComma = request.decimalComma || summary.decimal_comma === true;
  const repeated = repeatedFlags({ ...request, dateFormat, decimalComma });
  const again = { ...readImportFlags({}), ...repeated, resource: request.resource, input: errors };
  return importCommand(withSuggestedFlags(again, changes));
}

/** The next steps after the import of a folder that rejected some of it. */
export function nextStepsAfterFolder(
  { resources, links, status }: FolderSummary,
  request: ImportRequest,
): string[] {
  if (status === 'already')
    return ['correct the errors files that the previous run listed, and import each of them.'];
  const isDuplicate = resources.some(({ diagnosis }) => diagnosis.changes.onDuplicate !== undefined);
  const withDuplicates = (onDuplicate: 'skip' | 'update'): string =>
    importCommand({ ...afresh(request), onDuplicate });
  const records = [
    ...(isDuplicate
      ? [
          `to keep the records that exist as they are: ${withDuplicates('skip')}`,
          `or to change them to what the folder has: ${withDuplicates('update')}`,
        ]
      : []),
    ...resources.flatMap(({ resource, errors_file: errors, diagnosis }) => {
      if (errors === null || (isDuplicate && diagnosis.isWhole)) return [];
      // Exported times are plain digits.
      const again = { ...readImportFlags({}), resource, input: errors, dateFormat: 'unix-ms' as const };
      return [`correct the rows in ${errors}, then run: ${importCommand(again)}`];
    }),
  ];
  if (links === null || links.errors_file === null) return records;
  const what = `import the records that the links in ${links.errors_file} need`;
  return [...records, `${what}, then create each link: crm link RESOURCE/ID/LINK CHILD`];
}
