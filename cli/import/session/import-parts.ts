// The parts of an import that its rows need.
import type { Data } from '../../../db/model/json.ts';
import type { Resource } from '../../../db/model/resource.ts';
import type { Client } from '../../api/client.ts';
import type { Plan } from '../plan/plan.ts';
import type { SurveyedInput } from '../plan/survey.ts';
import type { ImportRequest } from '../request.ts';
import type { Rejection, SourceRow } from '../row.ts';
import type { Reporter } from './report.ts';

/** Hooks for `import all`. */
export interface RunHooks {
  /** Whether the row belongs to this run. */
  takes(row: SourceRow): boolean;
  /** Changes a row that is ready to send; throws a RowFault that rejects it. */
  adapt(body: Data): Data;
  /** The row as the errors file has it. */
  shown(row: SourceRow): SourceRow;
  /** What to send instead of a body that the server rejected, if anything. */
  amend(body: Data, rejection: Rejection): Data | null;
  /** Called with the rows that have a record now, or had one before, before the journal records them as done. */
  stored(records: readonly { row: SourceRow; id: string }[]): void;
}

export interface ImportParts {
  request: ImportRequest;
  resource: Resource;
  client: Client;
  input: SurveyedInput;
  plan: Plan;
  reporter: Reporter;
  interruption: AbortController;
  hooks?: RunHooks;
}
