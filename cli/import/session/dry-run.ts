// Tries the rows of an import: the server carries every batch out and undoes it.
import type { PreparedRow, RowOutcome } from '../row.ts';
import { PLACEHOLDER_ID } from '../rows/lookups.ts';
import { EarlierRows } from './earlier-rows.ts';
import type { ImportParts } from './import-parts.ts';
import type { PendingBatch } from './journal-state.ts';
import { Sender } from './send.ts';

// Faults that may be about a record that only exists in the dry run of a batch.
const OF_OTHER_ROWS = ['RESOURCE_CONFLICT', 'RESOURCE_NOT_FOUND'];

/** Replaces the Sender in a dry run. */
export class DryRun {
  readonly #parts: ImportParts;
  readonly #sender: Sender;
  readonly #earlier: EarlierRows;
  #isSafe: Promise<void> | undefined;
  readonly replays = 0;

  constructor(parts: ImportParts) {
    this.#parts = parts;
    this.#sender = new Sender(parts, null);
    this.#earlier = new EarlierRows(parts.resource, parts.plan.matching);
  }

  close(): void {
    this.#earlier.close();
  }

  /** What would become of each row of the batch; throws if the key cannot write. */
  async send(batch: PendingBatch): Promise<RowOutcome[]> {
    this.#isSafe ??= this.#assertSafe();
    await this.#isSafe;
    const isRepeated = (row: PreparedRow): boolean => 'body' in row && this.#earlier.isKnown(row.body);
    // Apart from the others, which in the run would not meet them.
    const { true: repeated = [], false: others = [] } = Object.groupBy(batch.rows, (row) =>
      String(isRepeated(row)),
    );
    const outcomes = new Map<PreparedRow, RowOutcome>();
    for (const rows of [others, repeated]) {
      const found = await this.#sender.send({ ...batch, rows: rows.map(withoutPlaceholders) });
      for (const [at, row] of rows.entries()) {
        const outcome = found[at];
        if (outcome !== undefined) outcomes.set(row, outcome);
      }
    }
    return batch.rows.flatMap((row) => {
      const outcome = outcomes.get(row);
      return outcome === undefined ? [] : [this.#settled(row, outcome, repeated.includes(row))];
    });
  }

  /** The first batch is empty, so that nothing is written should a proxy remove the header. */
  async #assertSafe(): Promise<void> {
    const { client, resource, interruption } = this.#parts;
    const options = { body: [], isDryRun: true, signal: interruption.signal };
    await client.request('POST', `/api/v2/${resource.name}/batch`, options);
  }

  /** The result of a row, given those before it. */
  #settled(row: PreparedRow, outcome: RowOutcome, isRepeated: boolean): RowOutcome {
    if ('rejection' in row || outcome.status === 'refused') return outcome;
    const { body, line } = row;
    const isRejected = outcome.status === 'rejected';
    const isOfOthers = isRejected && OF_OTHER_ROWS.includes(outcome.rejection.code);
    const known = isRepeated || isOfOthers ? this.#earlier.outcomeOf(body) : undefined;
    // Nothing is wrong with what is not written.
    if (isRejected && !isOfOthers) return known?.status === 'skipped' ? known : outcome;
    const record = isRejected ? undefined : outcome.record;
    if (this.#earlier.isRepeated(body, record)) return { status: 'skipped' };
    // Of a record that exists, the server knows whether the row changes it.
    const isNew = isRejected || outcome.status === 'created' || known?.status === 'rejected';
    const told: RowOutcome = isCompleted(row, outcome) ? { status: 'updated' } : outcome;
    const settled = known !== undefined && isNew ? known : told;
    if (settled.status === 'created' || settled.status === 'updated' || settled.status === 'unchanged')
      this.#earlier.take(body, record, line);
    return settled;
  }
}

/** The body without references to records that are not created in a dry run. */
function withoutPlaceholders(row: PreparedRow): PreparedRow {
  if ('rejection' in row) return row;
  const kept = Object.entries(row.body).filter(([, value]) => value !== PLACEHOLDER_ID);
  return { ...row, body: Object.fromEntries(kept) };
}

/** Whether only the reference to a record that is not created in a dry run would change the row's record. */
function isCompleted(row: PreparedRow, outcome: RowOutcome): boolean {
  if (!('body' in row) || outcome.status !== 'unchanged') return false;
  const names = Object.keys(row.body).filter((name) => row.body[name] === PLACEHOLDER_ID);
  return names.some((name) => row.body.on_match === 'update' || outcome.record?.[name] === null);
}
