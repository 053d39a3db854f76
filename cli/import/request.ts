// The request of an import, and its summary.

import type { ImportFlags } from './flags.ts';
import type { RowStatus } from './row.ts';
import type { SuggestedFlags } from './suggested-flags.ts';

export type OnDuplicate = NonNullable<ImportFlags['onDuplicate']>;

/** How many rows have each result. */
export type Counts = Record<RowStatus, number>;

/** The counts that a summary of an import has. */
export type ImportCounts = Pick<Counts, 'created' | 'updated' | 'unchanged' | 'skipped' | 'rejected'>;

export const NO_COUNTS: Counts = {
  ...{ created: 0, updated: 0, unchanged: 0, deleted: 0, found: 0, skipped: 0, rejected: 0 },
};

/** The sum of the counts of several parts; what a part does not count is 0. */
export function totalCounts(parts: readonly Partial<Counts>[]): Counts {
  const total = { ...NO_COUNTS };
  for (const part of parts) {
    for (const status of Object.keys(total) as RowStatus[]) total[status] += part[status] ?? 0;
  }
  return total;
}

export function importCounts({ created, updated, unchanged, skipped, rejected }: Counts): ImportCounts {
  return { created, updated, unchanged, skipped, rejected };
}

export interface ImportRequest extends ImportFlags {
  resource: string;
  /** Path, or `-` for standard input. */
  input: string;
  /** The command that does the same, if the mapping was chosen on a screen. */
  command?: string;
}

/** What happens to a row whose record exists. */
export function onDuplicateOf({ onDuplicate, externalId, matchOn }: ImportFlags): OnDuplicate {
  return onDuplicate ?? (externalId !== null || matchOn.length > 0 ? 'update' : 'fail');
}

/** What the rejected rows of a run have in common. */
export interface Diagnosis {
  /** The reasons in words, one line each, the most frequent first. */
  lines: readonly string[];
  /** Flags that would import some of the rejected rows, if any. */
  changes: SuggestedFlags;
  /** Alternative flags. */
  orElse: readonly SuggestedFlags[];
  /** Whether no row of the input is imported, by this run or an earlier one. */
  isNothingIn: boolean;
  /** Whether the flags fix every row. */
  isWhole: boolean;
  /** Whether rows name missing records that no flag creates. */
  isMissing: boolean;
  /** Columns without a single valid cell, if that is why every row was rejected. */
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

export interface ImportSummary extends ImportCounts {
  resource: string;
  rows: number;
  companies_created: number;
  stages_created: number;
  errors_file: string | null;
  dry_run: boolean;
  /** `already`: an earlier run had finished; `stopped`: by `--stop-after`. */
  status: 'finished' | 'already' | 'stopped';
  seconds: number;
  /** How slashed dates were read, if all columns agree. */
  date_format?: NonNullable<ImportFlags['dateFormat']>;
  /** Whether all unambiguous number columns have a decimal comma. */
  decimal_comma?: true;
  /** What the rejected rows have in common. */
  diagnosis: Diagnosis;
  /** A request with another mapping for columns without a valid cell, if that is why every row was rejected. */
  otherMapping: ImportRequest | null;
}
