// What an import is asked to do, and what it tells in the end.
import type { SlashedOrder } from './dates.ts';
import type { Counts } from './journal.ts';
import type { PlanOptions } from './plan.ts';
import type { Format } from './row.ts';
import type { OnDuplicate } from './send.ts';

export interface ImportRequest extends PlanOptions {
  resource: string;
  /** Path, or `-` for standard input. */
  input: string;
  format: Format | null;
  isDryRun: boolean;
  /** Path of the errors file; null for the default, which a dry run does not write. */
  errors: string | null;
  onDuplicate: OnDuplicate;
  batchSize: number;
  concurrency: number;
  createMissing: boolean;
  /** Rejected rows after which to stop; null for never. */
  stopAfter: number | null;
  isResumeWanted: boolean;
  isConfirmed: boolean;
  isQuiet: boolean;
}

export interface ImportSummary extends Counts {
  resource: string;
  rows: number;
  companies_created: number;
  errors_file: string | null;
  dry_run: boolean;
  /** `already`: an earlier run had finished; `stopped`: by `--stop-after`. */
  status: 'finished' | 'already' | 'stopped';
  seconds: number;
  /** How slashed dates were read, where all columns that have them agree. */
  date_format?: SlashedOrder;
  /** The first rejected rows, in words. */
  samples: readonly string[];
}
