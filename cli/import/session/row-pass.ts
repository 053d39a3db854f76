// One pass over the rows of an input: prepares and sends them, and reports the results.
import { note } from '../../terminal/streams.ts';
import { totalCounts } from '../request.ts';
import type { PreparedRow, RowOutcome, SourceRow } from '../row.ts';
import { RowBuilder } from '../rows/build-row.ts';
import { Lookups } from '../rows/lookups.ts';
import { orderingKeys } from '../rows/unique-keys.ts';
import { type InputRow, runBatches } from './batches.ts';
import { DryRunChecker } from './dry-run.ts';
import { isOpen, type PendingBatch } from './journal-state.ts';
import type { RunParts } from './run-parts.ts';
import { Sender } from './send.ts';

export interface PassOptions {
  /** Whether to finish only what was sent before. */
  isSettlingOnly: boolean;
  shouldStop(): boolean;
  /** Called when the server replayed a response. */
  onReplay(): void;
}

/** Runs the rest of the journal's pass; resolves with the number of created companies. */
export async function runPass(parts: RunParts, options: PassOptions): Promise<number> {
  const { request, resource, client, journal, input, interruption, hooks, errorsFile } = parts;
  const { state } = journal;
  const { signal } = interruption;
  const lookups = new Lookups(client, {
    createMissing: request.createMissing,
    keyPrefix: state.pass.keyPrefix,
    isDryRun: request.isDryRun,
    signal,
  });
  const { onDuplicate } = request;
  const checker = request.isDryRun
    ? new DryRunChecker(client, {
        resource,
        onDuplicate,
        rowCount: input.rowCount,
        lookups,
        signal,
      })
    : null;
  const sender =
    checker ??
    new Sender(client, {
      ...{ resource, onDuplicate, keyPrefix: state.pass.keyPrefix, signal, onReplay: options.onReplay },
      ...(hooks !== undefined && { amend: hooks.amend }),
    });
  const builder = new RowBuilder(parts.plan, lookups);
  try {
    await runBatches({
      rows: rowsOf(parts),
      batchSize: state.batchSize,
      // A dry run keeps its own record of what would exist, row by row.
      concurrency: checker === null ? request.concurrency : 1,
      rowsBehind: state.rows,
      batchesBehind: state.batches,
      pending: state.pending,
      isSettlingOnly: options.isSettlingOnly,
      prepare: (row) => prepare(parts, builder, row),
      begin: (batch) => {
        // The journal must not count rejected rows that are not on disk yet.
        errorsFile?.sync();
        journal.send(batch);
      },
      send: (batch) => sender.send(batch),
      settle: (batch, rows, outcomes) => settle(parts, batch, rows, outcomes),
      keysOf: (body) => orderingKeys(resource, body),
      shouldStop: options.shouldStop,
    });
  } finally {
    checker?.close();
  }
  for (const name of checker?.unchecked ?? []) {
    note(`crm: the key cannot read ${name}, so rows were not checked against them.`);
  }
  return lookups.createdCompanies;
}

async function* rowsOf({ input, hooks, journal }: RunParts): AsyncGenerator<InputRow> {
  // A copy, because the state changes while rows are read.
  const { state } = journal;
  let index = -1;
  for await (const row of await input.rows()) {
    index += 1;
    if (isOpen(state, index) && (hooks?.takes(row) ?? true)) yield { ...row, index };
  }
}

async function prepare(parts: RunParts, builder: RowBuilder, row: SourceRow): Promise<PreparedRow> {
  parts.interruption.signal.throwIfAborted();
  const prepared = await builder.build(row);
  const { hooks } = parts;
  return 'body' in prepared && hooks !== undefined
    ? { line: row.line, body: hooks.adapt(prepared.body) }
    : prepared;
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
