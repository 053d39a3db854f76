// Runs a job over one input, with its lock, journal and errors file.
import { onInterrupt } from '../../terminal/interrupt.ts';
import type { SurveyedInput } from '../plan/survey.ts';
import type { ImportRequest } from '../request.ts';
import { ErrorsFile } from './errors-file.ts';
import type { Preflight } from './preflight.ts';
import { lockRows, openJournal, type RunSubject } from './resume.ts';
import { RowRun, type RunResult } from './row-run.ts';
import type { RunParts, RunRequest } from './run-parts.ts';

export interface RowsOptions
  extends Preflight,
    Pick<RunSubject, 'url' | 'apiKey'>,
    Pick<RunParts, 'job' | 'reporter' | 'interruption'> {
  request: RunRequest & RunSubject['request'] & Pick<ImportRequest, 'errors'>;
  input: SurveyedInput;
}

/** Runs the job, or what an interrupted run left of it; throws a CliError if it could not finish. */
export async function runRows(options: RowsOptions): Promise<RunResult> {
  const { job, request, input, interruption } = options;
  const { isDryRun, errors: path } = request;
  const subject = { ...options, content: input.digest };
  const isKept = job.isWrite && !isDryRun && input.digest !== null;
  const releases = [onInterrupt(() => interruption.abort())];
  try {
    if (isKept) releases.push(lockRows(subject));
    const journal = await openJournal({ ...subject, beside: isKept ? request.input : null });
    const about = { verb: job.verb, format: input.format, headers: input.headers };
    const errorsFile =
      path === null && (isDryRun || !job.isWrite)
        ? null
        : new ErrorsFile({ ...about, path, input: request.input, earlier: journal.state.errors });
    return await new RowRun({ ...options, journal, errorsFile }).go();
  } finally {
    for (const release of releases) release();
  }
}
