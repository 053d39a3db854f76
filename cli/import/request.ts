// What an import is asked to do, and what it tells in the end.

import type { ImportFlags } from './flags.ts';
import type { SuggestedFlags } from './suggested-flags.ts';

export type OnDuplicate = ImportFlags['onDuplicate'];

export interface Counts {
  created: number;
  updated: number;
  skipped: number;
  rejected: number;
}

/** Counts of several parts together. */
export function totalCounts(parts: readonly Counts[]): Counts {
  const total = { created: 0, updated: 0, skipped: 0, rejected: 0 };
  for (const { created, updated, skipped, rejected } of parts) {
    total.created += created;
    total.updated += updated;
    total.skipped += skipped;
    total.rejected += rejected;
  }
  return total;
}

export interface ImportRequest extends ImportFlags {
  resource: string;
  /** Path, or `-` for standard input. */
  input: string;
}

/** What the rejected rows of a run have in common. */
export interface Diagnosis {
  /** The reasons in words, a line each, the most frequent first. */
  lines: readonly string[];
  /** Flags with which some rejected rows would come in; none where there are no such. */
  changes: SuggestedFlags;
  /** Other flags that may be meant. */
  orElse: readonly SuggestedFlags[];
  /** Whether no row of the input is in, by this run or one before. */
  isNothingIn: boolean;
  /** Whether the flags mend every row. */
  isWhole: boolean;
  /** Whether rows name what is not there, and no flag makes it. */
  isMissing: boolean;
  /** Columns of which no cell was ever taken, where that kept every row out. */
  strangeColumns: readonly string[];
}

export const NO_DIAGNOSIS: Diagnosis = {
  ...{
    lines: [],
    changes: {},
    orElse: [],
    isNothingIn: false,
    isWhole: false,
    isMissing: false,
    strangeColumns: [],
  },
};

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
  date_format?: NonNullable<ImportFlags['dateFormat']>;
  /** That all columns of numbers that tell have a decimal comma. */
  decimal_comma?: true;
  /** What the rejected rows have in common. */
  diagnosis: Diagnosis;
  /** The request that maps the columns otherwise of which no cell was taken, where that kept every row out. */
  otherMapping: ImportRequest | null;
}
