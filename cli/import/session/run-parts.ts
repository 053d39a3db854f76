// The parts of a run over one input.
import type { SurveyedInput } from '../plan/survey.ts';
import type { Counts, ImportRequest } from '../request.ts';
import type { ErrorsFile } from './errors-file.ts';
import type { Journal } from './journal.ts';
import type { Reporter } from './report.ts';
import type { RowJob } from './row-job.ts';

export type RunRequest = Pick<
  ImportRequest,
  'input' | 'command' | 'isDryRun' | 'isQuiet' | 'isResumeWanted' | 'stopAfter' | 'concurrency'
>;

export interface RunParts {
  request: RunRequest;
  input: Pick<SurveyedInput, 'rows' | 'rowCount' | 'digest' | 'checkUnchanged'>;
  job: RowJob;
  journal: Journal;
  reporter: Reporter;
  errorsFile: ErrorsFile | null;
  interruption: AbortController;
  requestsPerMinute: number;
  keyId: string;
  /** What earlier parts of the same run processed. */
  before?: Partial<Counts> & { rows: number };
}
