// One pass over the rows of an input: prepares and sends them, several batches at once, and settles them in order.
import { totalCounts } from '../request.ts';
import type { PreparedRow, RowOutcome, SourceRow } from '../row.ts';
import { isOpen, type PendingBatch } from './journal-state.ts';
import type { RowSender, SettledRow } from './row-job.ts';
import type { RunParts } from './run-parts.ts';

export interface PassOptions {
  /** Whether to finish only what was sent before. */
  isSettlingOnly: boolean;
  shouldStop(): boolean;
}

/** A row, and its index in the input. */
interface InputRow extends SourceRow {
  readonly index: number;
}

/** A batch that was sent. */
interface UnderWay {
  batch: PendingBatch;
  rows: InputRow[];
  /** The ordering keys of its rows. */
  keys: Set<string>;
  outcomes: Promise<RowOutcome[]>;
}

/** Runs the rest of the journal's pass; resolves with the number of replayed responses. */
export async function runPass(parts: RunParts, options: PassOptions): Promise<number> {
  const sender = parts.job.startPass(parts.journal.state.pass.keyPrefix);
  try {
    await sendBatches(parts, options, sender);
    return sender.replays;
  } finally {
    sender.close();
  }
}

async function sendBatches(
  parts: RunParts,
  { isSettlingOnly, shouldStop }: PassOptions,
  sender: RowSender,
): Promise<void> {
  const { journal, errorsFile } = parts;
  const underWay: UnderWay[] = [];
  const settleFirst = async (): Promise<void> => {
    const [first] = underWay;
    if (first === undefined) return;
    await settle(parts, first.batch, first.rows, await first.outcomes);
    underWay.shift();
  };
  const pending = new Map(journal.state.pending.map((batch) => [batch.number, batch]));
  let number = journal.state.batches;
  for await (const rows of batchesOf(parts)) {
    if (shouldStop()) break;
    number += 1;
    const earlier = pending.get(number);
    if (earlier === undefined && isSettlingOnly) break;
    const batch = earlier ?? (await prepareBatch(number, rows, parts, sender));
    const keys = new Set(batch.rows.flatMap((row) => ('body' in row ? sender.orderingKeys(row.body) : [])));
    while (underWay.length >= sender.concurrency || underWay.some((one) => !one.keys.isDisjointFrom(keys))) {
      await settleFirst();
    }
    if (shouldStop()) break;
    if (earlier === undefined) {
      // The journal must not count rejected rows that are not on disk yet.
      errorsFile?.sync();
      journal.send(batch);
    }
    const outcomes = sender.send(batch);
    // Handled when the batch's turn comes; until then it must not count as unhandled.
    outcomes.catch(() => {});
    underWay.push({ batch, rows, keys, outcomes });
  }
  while (underWay.length > 0) await settleFirst();
}

/** The rows of the pass after those that an earlier run processed, in batches. */
async function* batchesOf({ input, job, journal }: RunParts): AsyncGenerator<InputRow[]> {
  // A copy, because the state changes while rows are read.
  const { state } = journal;
  let behind = state.rows;
  let index = -1;
  let batch: InputRow[] = [];
  for await (const row of await input.rows()) {
    index += 1;
    if (!isOpen(state, index) || !job.takes(row)) continue;
    if (behind > 0) {
      behind -= 1;
      continue;
    }
    batch.push({ ...row, index });
    if (batch.length < state.batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function prepareBatch(
  number: number,
  rows: readonly InputRow[],
  { interruption }: RunParts,
  sender: RowSender,
): Promise<PendingBatch> {
  const prepared: PreparedRow[] = [];
  await sender.lookAhead?.(rows);
  for (const row of rows) {
    interruption.signal.throwIfAborted();
    prepared.push(await sender.prepare(row));
  }
  return { number, sentAt: Date.now(), rows: prepared };
}

async function settle(
  parts: RunParts,
  batch: PendingBatch,
  rows: readonly InputRow[],
  outcomes: readonly RowOutcome[],
): Promise<void> {
  const { job, journal, errorsFile } = parts;
  const counts = { ...journal.state.counts };
  const settled: SettledRow[] = [];
  const rejected: number[] = [];
  let refusal: string | null = null;
  for (const [at, row] of rows.entries()) {
    const [outcome, prepared] = [outcomes[at], batch.rows[at]];
    if (outcome === undefined || prepared === undefined) continue;
    settled.push({ row, prepared, outcome });
    if (outcome.status === 'refused') refusal ??= outcome.message;
    else counts[outcome.status] += 1;
    if (outcome.status === 'rejected') errorsFile?.add(job.shown(row), outcome.rejection);
    if (outcome.status === 'rejected' || outcome.status === 'refused') rejected.push(row.index);
  }
  await job.settled(settled);
  journal.settle({
    ...{ batch: batch.number, rows: journal.state.rows + rows.length, counts, rejected },
    ...(refusal !== null && { refusal }),
    reach: rows.at(-1)?.index ?? journal.state.reach,
    errors: errorsFile?.mark ?? null,
  });
  reportSettled(parts);
}

/** Shows the progress of the pass. */
export function reportSettled({ journal, reporter, before }: RunParts): void {
  const { rows, counts } = journal.state;
  reporter.settled(rows + (before?.rows ?? 0), before === undefined ? counts : totalCounts([before, counts]));
}
