// What a journal says of an import, as the lines of its file make it: a state first, then what has changed since.
import type { Counts } from '../request.ts';
import type { PreparedRow } from '../row.ts';
import type { ErrorsMark } from './errors-file.ts';
import { RowRanges } from './row-ranges.ts';

/** A batch whose rows are settled; it was or is about to be sent. */
export interface PendingBatch {
  number: number;
  sentAt: number;
  rows: PreparedRow[];
}

/** Whose import it is, of what, and how its batches are made. */
export interface JournalHeader {
  /** Digest of the input's bytes. */
  content: string;
  /** Digest of what is made of a row, values that are replaced left out. */
  mapping: string;
  resource: string;
  server: string;
  keyDigest: string;
  /** Stands for the organization; null where the key could not read it. */
  oldestPipelineId: string | null;
  /** Makes the idempotency keys of `--no-resume` new ones; '' otherwise. */
  salt: string;
  batchSize: number;
  startedAt: string;
}

/** One way through the input: the first takes every row, a later one those that no earlier could bring in. */
export interface Pass {
  number: number;
  /** Idempotency keys are this and the number of a batch. */
  keyPrefix: string;
  /** What may differ from pass to pass: --on-duplicate, --create-missing and the values that are replaced. */
  settings: string;
}

/** What became of the oldest batch that was pending. */
export interface Settled {
  batch: number;
  /** Of the pass, up to this batch. */
  rows: number;
  counts: Counts;
  /** Index in the input of the last row. */
  reach: number;
  /** Indexes of the rows that were rejected, or refused. */
  rejected: number[];
  /** In the server's words why there was no room for some, if there was none. */
  refusal?: string;
  errors: ErrorsMark | null;
}

export interface JournalState extends JournalHeader {
  crm_journal: 2;
  pass: Pass;
  /** Batches and rows of the pass that are dealt with, from its start on. */
  batches: number;
  rows: number;
  counts: Counts;
  /** Index in the input of the last row that is dealt with in the pass. */
  reach: number;
  rejected: RowRanges;
  /** Rows that earlier passes could not bring in, and the last row they came to; all later ones are open too. */
  open: RowRanges;
  openReach: number;
  /** What earlier passes brought in. */
  accepted: Counts;
  errors: ErrorsMark | null;
  /** Why the pass has stopped: there was no room for some rows, which are among those rejected. */
  refusal: string | null;
  pending: PendingBatch[];
  finishedAt: string | null;
}

export type JournalLine =
  | { pass: Pass }
  | { sent: PendingBatch }
  | { settled: Settled }
  | { finishedAt: string };

const NONE: Counts = { created: 0, updated: 0, skipped: 0, rejected: 0 };

/** The state of an import that begins with this pass. */
export function beginning(header: JournalHeader, pass: Pass): JournalState {
  return {
    ...{ crm_journal: 2, ...header, pass, batches: 0, rows: 0, counts: NONE, reach: -1 },
    ...{ rejected: new RowRanges(), open: new RowRanges(), openReach: -1, accepted: NONE },
    ...{ errors: null, refusal: null, pending: [], finishedAt: null },
  };
}

/** The state that a line leads to. */
export function afterLine(state: JournalState, line: JournalLine): JournalState {
  if ('sent' in line) return { ...state, pending: [...state.pending, line.sent] };
  if ('finishedAt' in line) return { ...state, finishedAt: line.finishedAt };
  if ('pass' in line) {
    const { created, updated, skipped } = state.counts;
    const { accepted } = state;
    return {
      ...beginning(state, line.pass),
      open: state.rejected.withThoseAfter(state.open, state.reach),
      openReach: Math.max(state.openReach, state.reach),
      accepted: {
        created: accepted.created + created,
        updated: accepted.updated + updated,
        skipped: accepted.skipped + skipped,
        rejected: 0,
      },
    };
  }
  const { batch, rows, counts, reach, rejected, errors } = line.settled;
  for (const index of rejected) state.rejected.add(index);
  const pending = state.pending.filter(({ number }) => number !== batch);
  const refusal = line.settled.refusal ?? state.refusal;
  return { ...state, batches: batch, rows, counts, reach, errors, refusal, pending };
}

/** Whether a row is to be dealt with in the pass. */
export function isOpen({ pass, open, openReach }: JournalState, index: number): boolean {
  return pass.number === 1 || index > openReach || open.has(index);
}

/** The state that a file tells, and how many of its bytes are whole lines; throws where it is no journal. */
export function readState(bytes: Buffer): { state: JournalState; bytesWhole: number } {
  const bytesWhole = bytes.lastIndexOf(0x0a) + 1;
  const [first = '', ...others] = bytes.subarray(0, bytesWhole).toString('utf8').trimEnd().split('\n');
  const base = JSON.parse(first) as JournalState;
  if (base.crm_journal !== 2) throw new Error('another version');
  const ranges = { rejected: new RowRanges(base.rejected as never), open: new RowRanges(base.open as never) };
  const state = others.reduce((so_far, line) => afterLine(so_far, JSON.parse(line) as JournalLine), {
    ...base,
    ...ranges,
    // Journals have not always had one.
    refusal: base.refusal ?? null,
  });
  return { state, bytesWhole };
}
