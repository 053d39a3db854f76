// One import from beginning to end: survey, plan, journal, rows, summary.
import { resolve } from 'node:path';
import type { Client } from '../api/client.ts';
import { connect } from '../api/connect.ts';
import { pageOf } from '../api/envelope.ts';
import { responseError } from '../api/response-error.ts';
import { resourceFor } from '../api/target.ts';
import { usageError } from '../errors.ts';
import type { Config } from '../settings/config.ts';
import { onInterrupt } from '../terminal/interrupt.ts';
import { note } from '../terminal/streams.ts';
import { describePlan, makePlan, type Plan, planKey } from './plan/plan.ts';
import { type SurveyedInput, surveyInput } from './plan/survey.ts';
import type { ImportRequest, ImportSummary } from './request.ts';
import { ErrorsFile } from './session/errors-file.ts';
import { ImportRun } from './session/import-run.ts';
import type { JournalState } from './session/journal.ts';
import { Reporter } from './session/report.ts';
import { openJournal } from './session/resume.ts';

/** Imports one input; throws a CliError where it could not be brought to its end. */
export async function runImport(request: ImportRequest, config: Config): Promise<ImportSummary> {
  const resource = await resourceFor(request.resource, 'batch');
  const apiKey = await config.apiKey();
  const reporter = new Reporter();
  const client = await connect({ ...config, apiKey: async () => apiKey }, reporter.onWait);
  const input = await surveyInput(request.input, request.format);
  const plan = makePlan(resource, input.survey, request);
  if (!request.isQuiet) tellPlan(plan, request, input);
  const { organization, requestsPerMinute } = await greet(client);
  const content = `${input.digest ?? ''}\n${planKey(plan)}`;
  const journal = await openJournal({
    input: request.isDryRun || input.digest === null ? null : request.input,
    ...{ content, url: config.url, apiKey, organization, request },
  });
  const errorsFile =
    request.isDryRun && request.errors === null ? null : openErrors(request, input, journal.state);
  const interruption = new AbortController();
  const release = onInterrupt(() => interruption.abort());
  const run = new ImportRun({
    ...{ request, resource, client, input, plan, journal, reporter, errorsFile, content, interruption },
    requestsPerMinute,
  });
  try {
    return await run.go();
  } finally {
    release();
  }
}

function openErrors(request: ImportRequest, input: SurveyedInput, state: JournalState): ErrorsFile {
  if (request.errors !== null && resolve(request.errors) === resolve(request.input)) {
    throw usageError('--errors names the input itself.', 'name another file.');
  }
  return new ErrorsFile({
    path: request.errors,
    input: request.input,
    format: input.format,
    headers: input.headers,
    resumed: state.errorsFile === null ? null : { file: state.errorsFile, bytes: state.errorsBytes },
  });
}

function tellPlan(plan: Plan, request: ImportRequest, { survey }: SurveyedInput): void {
  note(`${request.isDryRun ? 'Checking' : 'Importing'} ${plan.resource.name} from ${survey.name}:`);
  for (const line of describePlan(plan)) note(line);
}

/** Finds out that server and key are good before anything is read at length, and whose organization it is. */
export async function greet(
  client: Client,
): Promise<{ organization: string | null; requestsPerMinute: number }> {
  const query = { limit: '1', sort_direction: 'asc' };
  const response = await client.request('GET', '/api/v2/pipelines', { query, expectErrors: true });
  const { status, headers, body } = response;
  const requestsPerMinute = Number(headers.get('x-ratelimit-limit')) || 200;
  // A key without pipelines:read can import all the same.
  if (status === 403) return { organization: null, requestsPerMinute };
  if (body.object === 'error') throw responseError(response);
  const [oldest] = pageOf(response).records;
  return { organization: oldest === undefined ? null : String(oldest.id), requestsPerMinute };
}
