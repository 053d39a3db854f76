// Sends rows in batches, several at once, and handles their results strictly in input order.
import type { Data } from '../../../db/model/json.ts';
import type { PreparedRow, RowOutcome, SourceRow } from '../row.ts';
import type { PendingBatch } from './journal-state.ts';

/** A row, and its index in the input. */
export interface InputRow extends SourceRow {
  readonly index: number;
}

export interface BatchOptions {
  rows: AsyncIterable<InputRow>;
  batchSize: number;
  concurrency: number;
  /** Rows that an earlier run processed, and the number of its last batch. */
  rowsBehind: number;
  batchesBehind: number;
  /** Batches that an earlier run sent without getting the response, in order. */
  pending: readonly PendingBatch[];
  /** Whether to finish only those, and send nothing new. */
  isSettlingOnly: boolean;
  prepare(row: SourceRow): Promise<PreparedRow>;
  /** Called before a batch is sent, never for those of an earlier run. */
  begin(batch: PendingBatch): void;
  /** Sends a batch; resolves with one result per row. */
  send(batch: PendingBatch): Promise<RowOutcome[]>;
  /** Handles the results of the next batch in order. */
  settle(batch: PendingBatch, rows: readonly InputRow[], outcomes: readonly RowOutcome[]): void;
  /** The unique values of a record: rows that share one are never sent at the same time. */
  keysOf(body: Data): string[];
  shouldStop(): boolean;
}

interface UnderWay {
  batch: PendingBatch;
  rows: InputRow[];
  keys: Set<string>;
  outcomes: Promise<RowOutcome[]>;
}

/** Processes all rows; resolves when the last batch is finished, or when `shouldStop` returns true. */
export async function runBatches(options: BatchOptions): Promise<void> {
  const underWay: UnderWay[] = [];
  const settleFirst = async (): Promise<void> => {
    const [first] = underWay;
    if (first === undefined) return;
    options.settle(first.batch, first.rows, await first.outcomes);
    underWay.shift();
  };
  const pending = new Map(options.pending.map((batch) => [batch.number, batch]));
  let number = options.batchesBehind;
  for await (const rows of batchesOf(options)) {
    if (options.shouldStop()) break;
    number += 1;
    const earlier = pending.get(number);
    if (earlier === undefined && options.isSettlingOnly) break;
    const batch = earlier ?? (await prepareBatch(number, rows, options));
    const keys = keysOfBatch(batch, options);
    while (underWay.length >= options.concurrency || underWay.some((one) => shares(one.keys, keys))) {
      await settleFirst();
    }
    if (options.shouldStop()) break;
    if (earlier === undefined) options.begin(batch);
    const outcomes = options.send(batch);
    // Handled when the batch's turn comes; until then it must not count as unhandled.
    outcomes.catch(() => {});
    underWay.push({ batch, rows, keys, outcomes });
  }
  while (underWay.length > 0) await settleFirst();
}

async function* batchesOf({ rows, rowsBehind, batchSize }: BatchOptions): AsyncGenerator<InputRow[]> {
  let behind = rowsBehind;
  let batch: InputRow[] = [];
  for await (const row of rows) {
    if (behind > 0) {
      behind -= 1;
      continue;
    }
    batch.push(row);
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function prepareBatch(
  number: number,
  rows: readonly SourceRow[],
  options: BatchOptions,
): Promise<PendingBatch> {
  const prepared: PreparedRow[] = [];
  for (const row of rows) prepared.push(await options.prepare(row));
  return { number, sentAt: Date.now(), rows: prepared };
}

function keysOfBatch(batch: PendingBatch, options: BatchOptions): Set<string> {
  return new Set(batch.rows.flatMap((row) => ('body' in row ? options.keysOf(row.body) : [])));
}

function shares(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  for (const key of other) if (one.has(key)) return true;
  return false;
}
