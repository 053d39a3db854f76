// What a run does with the rows of its input: import, update, delete or get records.
import type { Data } from '../../../db/model/json.ts';
import type { Resource } from '../../../db/model/resource.ts';
import type { PreparedRow, RowOutcome, SourceRow } from '../row.ts';
import type { PendingBatch } from './journal-state.ts';

/** A row whose result is known. */
export interface SettledRow {
  row: SourceRow;
  prepared: PreparedRow;
  outcome: RowOutcome;
}

/** The rows of a run; passes over them can differ in their settings. */
export interface RowJob {
  /** For messages, such as `import` and `importing`. */
  readonly verb: string;
  readonly gerund: string;
  readonly isWrite: boolean;
  /** The suffix of its journals' names. */
  readonly journalSuffix: string;
  readonly resource: Resource;
  /** Digest of how rows are read; a run never continues with another one. */
  readonly mapping: string;
  /** JSON list of what may differ between passes; batches with another last item never share a key. */
  readonly settings: string;
  /** What happens to rows that are sent as if for the first time, but were sent before; null if that does no harm. */
  readonly ifRepeated: string | null;
  /** Whether a run with the same rows starts again once one has finished, instead of saying so. */
  readonly isSentAgain?: boolean;
  /** Other ways to run with changed rows, for a message. */
  readonly otherWays?: readonly string[];
  /** Whether a row of the input belongs to the run. */
  takes(row: SourceRow): boolean;
  startPass(keyPrefix: string): RowSender;
  /** The row as the errors file shows it. */
  shown(row: SourceRow): SourceRow;
  /** Called with the results of a batch, in order, before the journal records them. */
  settled(rows: readonly SettledRow[]): void | Promise<void>;
}

/** Prepares and sends the rows of one pass. */
export interface RowSender {
  /** How many batches may be sent before the first of them has its results. */
  readonly concurrency: number;
  /** Responses that the server replayed. */
  readonly replays: number;
  /** Looks up at once what the rows of a batch need to be prepared. */
  lookAhead?(rows: readonly SourceRow[]): Promise<void>;
  prepare(row: SourceRow): Promise<PreparedRow>;
  /** Rows with a common key are never sent at the same time. */
  orderingKeys(body: Data): readonly string[];
  /** One result per row of the batch; rows that were already rejected stay rejected. */
  send(batch: PendingBatch): Promise<RowOutcome[]>;
  close(): void;
}
