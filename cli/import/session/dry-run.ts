// Tries the rows of an import: the server carries every batch out and undoes it, so only what rows of earlier batches would have taken is known here.
import type { Data } from '../../../db/model/json.ts';
import { contacts } from '../../../db/model/resources/contacts.ts';
import { duplicateMessage, uniqueValues } from '../../../db/model/rules.ts';
import type { PreparedRow, RowOutcome } from '../row.ts';
import { KeyStore } from '../rows/key-store.ts';
import { PLACEHOLDER_ID } from '../rows/lookups.ts';
import { keyOf, orderingKeys, repeatKeys } from '../rows/unique-keys.ts';
import type { ImportParts } from './import-parts.ts';
import type { PendingBatch } from './journal-state.ts';
import { Sender } from './send.ts';

/** Replaces the Sender in a dry run. */
export class DryRun {
  readonly #parts: ImportParts;
  readonly #sender: Sender;
  /** The line of the row that would have each value. */
  readonly #lines = new KeyStore();
  #isSafe: Promise<void> | undefined;
  readonly replays = 0;

  constructor(parts: ImportParts) {
    this.#parts = parts;
    this.#sender = new Sender(parts, null);
  }

  close(): void {
    this.#lines.close();
  }

  /** What would become of each row of the batch; throws if the key cannot write. */
  async send(batch: PendingBatch): Promise<RowOutcome[]> {
    this.#isSafe ??= this.#assertSafe();
    await this.#isSafe;
    // Apart from the others, which in the run would not meet them.
    const { true: repeated = [], false: others = [] } = Object.groupBy(batch.rows, (row) =>
      String(this.#isRepeated(row)),
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
      return outcome === undefined ? [] : [this.#settled(row, outcome)];
    });
  }

  /** The first batch is empty, so that nothing is written should a proxy remove the header. */
  async #assertSafe(): Promise<void> {
    const { client, resource, interruption } = this.#parts;
    const options = { body: [], isDryRun: true, signal: interruption.signal };
    await client.request('POST', `/api/v2/${resource.name}/batch`, options);
  }

  #isRepeated(row: PreparedRow): boolean {
    if ('rejection' in row) return false;
    return orderingKeys(this.#parts.resource, row.body).some((key) => this.#lines.get(key) !== undefined);
  }

  /** The result of a row, given those before it. */
  #settled(row: PreparedRow, outcome: RowOutcome): RowOutcome {
    if ('rejection' in row || outcome.status === 'refused') return outcome;
    if (outcome.status === 'rejected' && outcome.rejection.code !== 'RESOURCE_CONFLICT') return outcome;
    const { resource, request } = this.#parts;
    const { body } = row;
    const record = outcome.status === 'rejected' ? undefined : outcome.record;
    const repeats = contactsOf(body, record).flatMap((contact) => repeatKeys(resource, body, contact));
    if (repeats.some((key) => this.#lines.get(key) !== undefined)) return { status: 'skipped' };
    const unique = uniqueValues(resource, body);
    const conflicts = unique.flatMap((one) => {
      const line = this.#lines.get(keyOf(one));
      return line === undefined ? [] : [{ one, line }];
    });
    const [conflict] = conflicts;
    if (conflict === undefined && outcome.status !== 'created' && outcome.status !== 'updated')
      return outcome;
    const take = (line: string): void =>
      this.#lines.addAll([...unique.map(keyOf), ...repeats].map((key) => [key, line]));
    if (conflict === undefined) {
      take(String(row.line));
      return outcome;
    }
    const { one, line } = conflict;
    if (request.onDuplicate === 'skip') return { status: 'skipped' };
    if (request.onDuplicate === 'update' && conflicts.every((other) => other.line === line)) {
      take(line);
      return { status: 'updated' };
    }
    const message = `${duplicateMessage(resource, one)}: line ${line}`;
    return { status: 'rejected', rejection: { code: 'RESOURCE_CONFLICT', path: one.path, message } };
  }
}

/** The body without references to records that are not created in a dry run. */
function withoutPlaceholders(row: PreparedRow): PreparedRow {
  if ('rejection' in row) return row;
  const kept = Object.entries(row.body).filter(([, value]) => value !== PLACEHOLDER_ID);
  return { ...row, body: Object.fromEntries(kept) };
}

/** What identifies the contact of an interaction: its ID, which holds only if it exists, and its email. */
function contactsOf(body: Data, record: Data | undefined): (string | null)[] {
  const emails = uniqueValues(contacts, { email: body.main_contact_email ?? null });
  const id = record?.main_contact;
  return [typeof id === 'string' ? id : null, ...emails.map(({ key }) => key)];
}
