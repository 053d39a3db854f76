// One pass over the rows of an input: prepares and sends them, several batches at once, and settles them in order.
import { note } from '../../terminal/streams.ts';
import { totalCounts } from '../request.ts';
import type { PreparedRow, RowOutcome, SourceRow } from '../row.ts';
import { buildRow } from '../rows/build-row.ts';
import { Lookups } from '../rows/lookups.ts';
import { orderingKeys } from '../rows/unique-keys.ts';
import { DryRunChecker } from './dry-run.ts';
import { isOpen, type PendingBatch } from './journal-state.ts';
import type { RunParts } from './run-parts.ts';
import { Sender } from './send.ts';

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
  /** The unique values of its records: rows that share one are never sent at the same time. */
  keys: Set<string>;
  outcomes: Promise<RowOutcome[]>;
}

/** Runs the rest of the journal's pass; resolves with the number of created companies, and of replayed responses. */
export async function runPass(
  parts: RunParts,
  options: PassOptions,
): Promise<{ createdCompanies: number; replays: number }> {
  const { request, client, journal, interruption } = parts;
  const { createMissing, isDryRun } = request;
  const { signal } = interruption;
  const { keyPrefix } = journal.state.pass;
  const lookups = new Lookups(client, { createMissing, keyPrefix, isDryRun, signal });
  if (!isDryRun) {
    const sender = new Sender(parts, keyPrefix);
    await sendBatches(parts, options, { lookups, sender, concurrency: request.concurrency });
    return { createdCompanies: lookups.createdCompanies, replays: sender.replays };
  }
  const checker = new DryRunChecker(parts, lookups);
  try {
    // The checker keeps its own record of what would exist, row by row.
    await sendBatches(parts, options, { lookups, sender: checker, concurrency: 1 });
  } finally {
    checker.close();
  }
  for (const name of checker.unchecked) {
    note(`crm: the key cannot read ${name}, so rows were not checked against them.`);
  }
  return { createdCompanies: lookups.createdCompanies, replays: 0 };
}

async function sendBatches(
  parts: RunParts,
  { isSettlingOnly, shouldStop }: PassOptions,
  how: { lookups: Lookups; sender: Pick<Sender, 'send'>; concurrency: number },
): Promise<void> {
  const { resource, journal, errorsFile } = parts;
  const underWay: UnderWay[] = [];
  const settleFirst = async (): Promise<void> => {
    const [first] = underWay;
    if (first === undefined) return;
    settle(parts, first.batch, first.rows, await first.outcomes);
    underWay.shift();
  };
  const pending = new Map(journal.state.pending.map((batch) => [batch.number, batch]));
  let number = journal.state.batches;
  for await (const rows of batchesOf(parts)) {
    if (shouldStop()) break;
    number += 1;
    const earlier = pending.get(number);
    if (earlier === undefined && isSettlingOnly) break;
    const batch = earlier ?? (await prepareBatch(number, rows, parts, how.lookups));
    const keys = new Set(
      batch.rows.flatMap((row) => ('body' in row ? orderingKeys(resource, row.body) : [])),
    );
    while (underWay.length >= how.concurrency || underWay.some((one) => !one.keys.isDisjointFrom(keys))) {
      await settleFirst();
    }
    if (shouldStop()) break;
    if (earlier === undefined) {
      // The journal must not count rejected rows that are not on disk yet.
      errorsFile?.sync();
      journal.send(batch);
    }
    const outcomes = how.sender.send(batch);
    // Handled when the batch's turn comes; until then it must not count as unhandled.
    outcomes.catch(() => {});
    underWay.push({ batch, rows, keys, outcomes });
  }
  while (underWay.length > 0) await settleFirst();
}

/** The rows of the pass after those that an earlier run processed, in batches. */
async function* batchesOf({ input, hooks, journal }: RunParts): AsyncGenerator<InputRow[]> {
  // A copy, because the state changes while rows are read.
  const { state } = journal;
  let behind = state.rows;
  let index = -1;
  let batch: InputRow[] = [];
  for await (const row of await input.rows()) {
    index += 1;
    if (!isOpen(state, index) || hooks?.takes(row) === false) continue;
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
  { hooks, interruption, plan }: RunParts,
  lookups: Lookups,
): Promise<PendingBatch> {
  const prepared: PreparedRow[] = [];
  for (const row of rows) {
    interruption.signal.throwIfAborted();
    const built = await buildRow(row, plan, lookups);
    const isAdapted = 'body' in built && hooks !== undefined;
    prepared.push(isAdapted ? { line: row.line, body: hooks.adapt(built.body) } : built);
  }
  return { number, sentAt: Date.now(), rows: prepared };
}

function settle(
  parts: RunParts,
  batch: PendingBatch,
  rows: readonly InputRow[],
  outcomes: readonly RowOutcome[],
): void {
  const { journal, reporter, errorsFile, hooks } = parts;
  const counts = { ...journal.state.counts };
  const stored: { row: SourceRow; id: string }[] = [];
  const rejected: number[] = [];
  let refusal: string | null = null;
  for (const [at, row] of rows.entries()) {
    const [outcome, prepared] = [outcomes[at], batch.rows[at]];
    if (outcome === undefined) continue;
    if (outcome.status === 'refused') {
      refusal ??= outcome.message;
      rejected.push(row.index);
      continue;
    }
    counts[outcome.status] += 1;
    if (outcome.status !== 'rejected') {
      if (outcome.id !== undefined) stored.push({ row, id: outcome.id });
      continue;
    }
    rejected.push(row.index);
    // With hooks, a body has the new IDs, which the row of the input does not have.
    const isAdapted = hooks !== undefined && prepared !== undefined && 'body' in prepared;
    errorsFile?.add(isAdapted ? { ...row, original: prepared.body } : row, outcome.rejection);
    reporter.reasons.take(row, outcome.rejection, parts.plan);
  }
  hooks?.stored(stored);
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
