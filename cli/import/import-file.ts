// One import from start to end: survey, plan, journal, rows, summary.
import type { Resource } from '../../db/model/resource.ts';
import { connect } from '../api/connect.ts';
import { resourceFor } from '../api/target.ts';
import { CliError, usageError } from '../errors.ts';
import { kindAt } from '../files/private-file.ts';
import { EncodingError } from '../input/decode.ts';
import type { Config } from '../settings/config.ts';
import { formatCount } from '../terminal/format.ts';
import { note } from '../terminal/streams.ts';
import { shellWord } from '../terminal/text.ts';
import { importCommand } from './flags.ts';
import { Evidence } from './plan/column-evidence.ts';
import { describePlan } from './plan/describe.ts';
import { readMapping } from './plan/mapping.ts';
import { makePlan, type Plan, settledRequest } from './plan/plan.ts';
import { printSuggestedMap } from './plan/suggest.ts';
import { type SurveyedInput, surveyInput } from './plan/survey.ts';
import type { ImportRequest, ImportSummary } from './request.ts';
import { isReviewed, review } from './screen/review.ts';
import { checkErrorsPath } from './session/errors-file.ts';
import { ImportJob } from './session/import-job.ts';
import { JOURNAL_SUFFIX } from './session/journal.ts';
import { missingMessage, refusedKinds } from './session/missing-in-words.ts';
import { NameCheck } from './session/missing-names.ts';
import { preflight } from './session/preflight.ts';
import { Reporter } from './session/report.ts';
import { runRows } from './session/run-rows.ts';

/** What was imported, and how: a person may have changed the mapping. */
export interface Imported {
  request: ImportRequest;
  summary: ImportSummary;
}

/** Imports one input; throws a CliError if it could not finish. */
export async function importFile(given: ImportRequest, config: Config): Promise<Imported> {
  const resource = resourceFor(given.resource, 'batch');
  checkArguments(resource, given);
  const apiKey = await config.apiKey();
  const reporter = new Reporter(given.isQuiet);
  const client = await connect({ ...config, apiKey: async () => apiKey }, reporter.onWait);
  const input = await survey(given);
  const greeted = isReviewed(given) ? await preflight(client) : null;
  const nameCheck = new NameCheck(client);
  const request =
    greeted === null ? given : await review(given, resource, input, { greeting: greeted, nameCheck });
  const plan = makePlan(resource, input.survey, request);
  if (!request.isQuiet) tellPlan(plan, request, input);
  const greeting = greeted ?? (await preflight(client));
  if (!request.isQuiet && isFirstRun(request)) await tellMissing(plan, request, input, nameCheck);
  const interruption = new AbortController();
  const job = new ImportJob({ request, resource, client, input, plan, reporter, interruption });
  const { url } = config;
  const result = await runRows({ job, request, input, url, apiKey, reporter, interruption, ...greeting });
  if (!request.isQuiet && result.status !== 'already') tellGroups(input.groups());
  return { request, summary: job.summary(result) };
}

/** Checks the arguments by themselves, before looking for an API key or reading the input. */
function checkArguments(resource: Resource, request: ImportRequest): void {
  checkErrorsPath(request);
  // A map file may contain columns that this input does not have.
  const given = { ...request, mapFile: null };
  const nothing = { name: '', headers: [], evidence: new Evidence(), isPartial: true, isOpen: true };
  const plan = makePlan(resource, nothing, given);
  for (const header of readMapping(given, null).columns.keys()) plan.late(header);
}

/** Prints the mapping of the columns of an input; sends nothing and needs no key. */
export async function suggestMap(request: ImportRequest): Promise<void> {
  const resource = resourceFor(request.resource, 'batch');
  const input = await survey(request);
  const { survey: seen } = input;
  const needed = settledRequest(resource, seen, request) ?? request;
  await printSuggestedMap(resource, seen, readMapping(needed, seen.headers));
  for (const text of needed.set) {
    if (!request.set.includes(text)) note(`crm: with this mapping, also add --set ${shellWord(text)}.`);
  }
}

/** Surveys the input; errors about its encoding or content suggest the right command. */
async function survey(request: ImportRequest): Promise<SurveyedInput> {
  const input = await surveyInput(request.input, request).catch(async (error: unknown) => {
    if (!(error instanceof EncodingError)) throw error;
    const readable = { ...request, encoding: error.likely };
    const command = importCommand((await settled(readable)) ?? readable);
    throw new CliError(error.message, { nextSteps: [command, ...error.nextSteps], cause: error });
  });
  if (input.format !== 'vcf' || request.resource === 'contacts') return input;
  throw usageError(
    `${input.survey.name} contains vCards, which are contacts, not ${request.resource}.`,
    importCommand({ ...request, resource: 'contacts' }),
  );
}

/** The request with everything else that its input needs; null if that is unknown. */
async function settled(request: ImportRequest): Promise<ImportRequest | null> {
  if (request.input === '-') return null;
  try {
    const { survey } = await surveyInput(request.input, request);
    return settledRequest(resourceFor(request.resource, 'batch'), survey, request);
  } catch (error) {
    if (error instanceof CliError) return null;
    throw error;
  }
}

function tellPlan(plan: Plan, request: ImportRequest, { survey }: SurveyedInput): void {
  note(`${request.isDryRun ? 'Checking' : 'Importing'} ${plan.resource.name} from ${survey.name}:`);
  for (const line of describePlan(plan)) note(line);
  if (request.command !== undefined) note(`The same without the screen: ${request.command}`);
  for (const message of plan.lacking) note(`crm: ${message} Rows without a record are rejected.`);
}

/** Tells how many vCards are not contacts: of standard input, only the last row shows it. */
function tellGroups(count: number): void {
  if (count === 0) return;
  const what =
    count === 1
      ? '1 vCard is a group of contacts, and is'
      : `${formatCount(count)} vCards are groups of contacts, and are`;
  note(`crm: ${what} left out.`);
}

/** Whether there is no journal: an earlier run has told what the file lacks. */
function isFirstRun({ input, isResumeWanted }: ImportRequest): boolean {
  return !isResumeWanted || input === '-' || kindAt(`${input}${JOURNAL_SUFFIX}`) === 'nothing';
}

/** Tells which names the rows need and do not find, as long as nothing has been sent. */
async function tellMissing(
  plan: Plan,
  request: ImportRequest,
  { survey }: SurveyedInput,
  nameCheck: NameCheck,
): Promise<void> {
  const missing = await nameCheck.missingNames(plan, survey, refusedKinds(request));
  for (const one of missing) note(`crm: ${missingMessage(one)}`);
}
