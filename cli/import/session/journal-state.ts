// The state of an import, built from the lines of its journal: first a state, then changes.
import { type Counts, NO_COUNTS, totalCounts } from '../request.ts';
import type { PreparedRow } from '../row.ts';
import type { ErrorsMark } from './errors-file.ts';
import { RowRanges } from './row-ranges.ts';

/** A batch with fixed rows that was sent, or is about to be sent. */
export interface PendingBatch {
  number: number;
  sentAt: number;
  rows: PreparedRow[];
}

/** What is imported, for whom, and how its batches are built. */
export interface JournalHeader {
  /** Digest of the input's bytes. */
  content: string;
  /** Digest of the mapping, without replaced values. */
  mapping: string;
  resource: string;
  server: string;
  keyDigest: string;
  /** Null if it was begun by crm 0.2 or older. */
  organizationId: string | null;
  /** Makes new idempotency keys for `--no-resume`; '' otherwise. */
  salt: string;
  batchSize: number;
  startedAt: string;
}

/** One pass over the input: the first takes every row, later ones the rows rejected before. */
export interface Pass {
  number: number;
  /** Idempotency keys are this and the number of a batch. */
  keyPrefix: string;
  /** What may differ between passes: --on-duplicate, --create-missing and replaced values. */
  settings: string;
}

/** The result of the oldest pending batch. */
export interface Settled {
  batch: number;
  /** The counts of the pass, up to this batch. */
  rows: number;
  counts: Partial<Counts>;
  /** Index in the input of the last row. */
  reach: number;
  /** Indexes of the rows that were rejected, or refused. */
  rejected: number[];
  /** The server's message if a quota was used up. */
  refusal?: string;
  errors: ErrorsMark | null;
}

export interface JournalState extends JournalHeader {
  crm_journal: 2;
  pass: Pass;
  /** Processed batches and rows of the pass, from its start. */
  batches: number;
  rows: number;
  counts: Counts;
  /** Index in the input of the last processed row of the pass. */
  reach: number;
  rejected: RowRanges;
  /** Rows that earlier passes rejected, and the last row they reached; all later ones are open too. */
  open: RowRanges;
  openReach: number;
  /** What earlier passes imported. */
  accepted: Counts;
  errors: ErrorsMark | null;
  /** Why the pass stopped: a quota was used up, and some rows count as rejected for now. */
  refusal: string | null;
  pending: PendingBatch[];
  finishedAt: string | null;
}

export type JournalLine =
  | { pass: Pass }
  | { sent: PendingBatch }
  | { settled: Settled }
  | { finishedAt: string };

/** The state of an import that starts with this pass. */
export function beginning(header: JournalHeader, pass: Pass): JournalState {
  return {
    ...{ crm_journal: 2, ...header, pass, batches: 0, rows: 0, counts: NO_COUNTS, reach: -1 },
    ...{ rejected: new RowRanges(), open: new RowRanges(), openReach: -1, accepted: NO_COUNTS },
    ...{ errors: null, refusal: null, pending: [], finishedAt: null },
  };
}

/** The state after a line. */
export function afterLine(state: JournalState, line: JournalLine): JournalState {
  if ('sent' in line) return { ...state, pending: [...state.pending, line.sent] };
  if ('finishedAt' in line) return { ...state, finishedAt: line.finishedAt };
  if ('pass' in line) {
    return {
      ...beginning(state, line.pass),
      open: state.rejected.withThoseAfter(state.open, state.reach),
      openReach: Math.max(state.openReach, state.reach),
      accepted: { ...totalCounts([state.accepted, state.counts]), rejected: 0 },
    };
  }
  const { batch, rows, reach, rejected, errors } = line.settled;
  // Older journals count fewer results.
  const counts = totalCounts([line.settled.counts]);
  for (const index of rejected) state.rejected.add(index);
  const pending = state.pending.filter(({ number }) => number !== batch);
  const refusal = line.settled.refusal ?? state.refusal;
  return { ...state, batches: batch, rows, counts, reach, errors, refusal, pending };
}

/** Whether the pass must process a row. */
export function isOpen({ pass, open, openReach }: JournalState, index: number): boolean {
  return pass.number === 1 || index > openReach || open.has(index);
}

/** The state in a file, and how many bytes are complete lines; throws if it is not a journal. */
export function readState(bytes: Buffer): { state: JournalState; bytesWhole: number } {
  const bytesWhole = bytes.lastIndexOf(0x0a) + 1;
  const [first = '', ...others] = bytes.subarray(0, bytesWhole).toString('utf8').trimEnd().split('\n');
  const base = JSON.parse(first) as JournalState;
  if (base.crm_journal !== 2) throw new Error('another version');
  const ranges = { rejected: new RowRanges(base.rejected as never), open: new RowRanges(base.open as never) };
  const state = others.reduce((so_far, line) => afterLine(so_far, JSON.parse(line) as JournalLine), {
    ...base,
    ...ranges,
    counts: totalCounts([base.counts]),
    accepted: totalCounts([base.accepted]),
    // Older journals do not have these.
    refusal: base.refusal ?? null,
    organizationId: base.organizationId ?? null,
  });
  return { state, bytesWhole };
}
