// The parts of a run over one input.
import type { Data } from '../../../db/model/json.ts';
import type { Resource } from '../../../db/model/resource.ts';
import type { Client } from '../../api/client.ts';
import type { Plan } from '../plan/plan.ts';
import type { SurveyedInput } from '../plan/survey.ts';
import type { Counts, ImportRequest } from '../request.ts';
import type { Rejection, SourceRow } from '../row.ts';
import type { ErrorsFile } from './errors-file.ts';
import type { Journal } from './journal.ts';
import type { Reporter } from './report.ts';

/** Hooks for `import all`. */
export interface RunHooks {
  /** Whether the row belongs to this run. */
  takes(row: SourceRow): boolean;
  /** Changes a row that is ready to send. */
  adapt(body: Data): Data;
  /** What to send instead of a body that the server rejected, if anything. */
  amend(body: Data, rejection: Rejection): Data | null;
  /** Called with the rows that now have a record, before the journal records them as done. */
  stored(records: readonly { row: SourceRow; id: string }[]): void;
}

export interface RunParts {
  request: ImportRequest;
  resource: Resource;
  client: Client;
  input: SurveyedInput;
  plan: Plan;
  journal: Journal;
  reporter: Reporter;
  errorsFile: ErrorsFile | null;
  interruption: AbortController;
  requestsPerMinute: number;
  /** What earlier parts of the same import processed. */
  before?: Counts & { rows: number };
  hooks?: RunHooks;
}
