// Lets a person look at an import before anything is sent, where there is one and nothing was decided by flags.
import type { Resource } from '../../../db/model/resource.ts';
import { CliError } from '../../errors.ts';
import { estimateInWords } from '../../terminal/progress.ts';
import { canShowScreen } from '../../terminal/questions.ts';
import { type ImportFlags, importCommand } from '../flags.ts';
import { type Plan, settledRequest } from '../plan/plan.ts';
import type { SurveyedInput } from '../plan/survey.ts';
import type { ImportRequest } from '../request.ts';
import type { SourceRow } from '../row.ts';
import type { NameCheck } from '../session/missing-names.ts';
import { fasterThan, type Preflight } from '../session/preflight.ts';

const ROWS_SHOWN = 5;

/** Whether the screen is shown: on a terminal, without flags about columns. */
export function isReviewed(request: ImportRequest): boolean {
  if (request.isConfirmed || request.isQuiet || request.input === '-' || !canShowScreen()) return false;
  return !decidesColumns(request);
}

function decidesColumns(flags: ImportFlags): boolean {
  const lists = [flags.map, flags.mapValue, flags.set, flags.matchOn];
  const texts = [flags.mapFile, flags.dateFormat, flags.externalId, flags.source];
  const isGiven = lists.some((list) => list.length > 0) || texts.some((text) => text !== null);
  return isGiven || flags.custom || flags.ignoreUnknown || flags.decimalComma;
}

/** The request as a person leaves it, with the command that does the same; throws a CliError if it is cancelled. */
export async function review(
  request: ImportRequest,
  resource: Resource,
  input: SurveyedInput,
  { greeting, nameCheck }: { greeting: Preflight; nameCheck: NameCheck },
): Promise<ImportRequest> {
  const { survey, rowCount } = input;
  const initial = settledRequest(resource, survey, request) ?? request;
  const estimate = estimateInWords({
    ...{ label: 'Takes', unit: 'rows', total: rowCount },
    ratePerMinuteMax: greeting.requestsPerMinute * request.batchSize,
    faster: fasterThan(greeting, request.batchSize),
  });
  const { showImport } = await import('./show.tsx');
  const rows = await firstRows(input);
  const missingNames = (plan: Plan) => nameCheck.missingNames(plan, survey);
  const chosen = await showImport({ resource, survey, rowCount, rows, estimate, missingNames }, initial);
  if (chosen === null)
    throw new CliError('Nothing was imported.', {
      nextSteps: [`with the suggested mapping: ${importCommand({ ...initial, isConfirmed: true })}`],
    });
  return {
    ...chosen,
    command: importCommand(decidesColumns(chosen) ? chosen : { ...chosen, isConfirmed: true }),
  };
}

async function firstRows({ rows }: SurveyedInput): Promise<SourceRow[]> {
  const first: SourceRow[] = [];
  for await (const row of await rows()) {
    if (row.fault === null) first.push(row);
    if (first.length === ROWS_SHOWN) break;
  }
  return first;
}
