// One import from beginning to end: survey, plan, journal, rows, summary.
import { resolve } from 'node:path';
import { connect } from '../api/connect.ts';
import { resourceFor } from '../api/target.ts';
import { usageError } from '../errors.ts';
import type { Config } from '../settings/config.ts';
import { onInterrupt } from '../terminal/interrupt.ts';
import { note } from '../terminal/streams.ts';
import { describePlan, makePlan, type Plan, planKey } from './plan/plan.ts';
import { type SurveyedInput, surveyInput } from './plan/survey.ts';
import type { ImportRequest, ImportSummary } from './request.ts';
import { ErrorsFile } from './session/errors-file.ts';
import { greet } from './session/greet.ts';
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
  const { oldestPipelineId, requestsPerMinute } = await greet(client);
  const content = `${input.digest ?? ''}\n${planKey(plan)}`;
  const journal = await openJournal({
    input: request.isDryRun || input.digest === null ? null : request.input,
    ...{ content, url: config.url, apiKey, oldestPipelineId, request },
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
