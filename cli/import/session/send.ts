// Sends one batch and handles its conflicts according to --on-duplicate.
import type { Data } from '../../../db/model/json.ts';
import type { Resource } from '../../../db/model/resource.ts';
import { uniqueValues } from '../../../db/model/rules.ts';
import type { RequestOptions } from '../../api/client.ts';
import type { BatchItem } from '../../api/envelope.ts';
import { pageOf } from '../../api/envelope.ts';
import { type Rejection, RowFault, type RowOutcome } from '../row.ts';
import { rejectionOfError, requestForRow } from '../rows/row-request.ts';
import type { ImportParts } from './import-parts.ts';
import type { PendingBatch } from './journal-state.ts';
import { failureOf, postBatch } from './post-batch.ts';

/** Sends the batches of one pass. */
export class Sender {
  readonly #parts: ImportParts;
  readonly #keyPrefix: string | null;
  readonly #signal: AbortSignal;
  /** Responses that the server replayed. */
  replays = 0;

  /** Idempotency keys are `keyPrefix` and the number of a batch; null makes it a dry run, which has none. */
  constructor(parts: ImportParts, keyPrefix: string | null) {
    this.#parts = parts;
    this.#keyPrefix = keyPrefix;
    this.#signal = parts.interruption.signal;
  }

  /** One result per row of the batch; rows that were already rejected stay rejected. */
  async send(batch: PendingBatch): Promise<RowOutcome[]> {
    const bodies = batch.rows.flatMap((row) => ('body' in row ? [row.body] : []));
    const items = await this.#post(String(batch.number), bodies);
    const amended = await this.#postAmended(batch.number, bodies, items);
    const outcomes: RowOutcome[] = [];
    let index = 0;
    for (const row of batch.rows) {
      if ('rejection' in row) outcomes.push({ status: 'rejected', rejection: row.rejection });
      else {
        outcomes.push(await this.#outcome(row.body, amended.get(index) ?? items[index]));
        index += 1;
      }
    }
    return outcomes;
  }

  /** Sends rejected bodies again if they can be amended; returns the results by index of the body. */
  async #postAmended(
    number: number,
    bodies: readonly Data[],
    items: readonly BatchItem[],
  ): Promise<Map<number, BatchItem>> {
    const { hooks } = this.#parts;
    const amended = new Map<number, Data>();
    for (const { index, error } of items) {
      const body = bodies[index];
      const again = error && body && hooks?.amend(body, rejectionOfError(error));
      if (again) amended.set(index, again);
    }
    const answers = await this.#post(`${number}-amended`, [...amended.values()]);
    return new Map([...amended.keys()].flatMap((index, at) => (answers[at] ? [[index, answers[at]]] : [])));
  }

  async #post(number: string, items: readonly Data[]): Promise<BatchItem[]> {
    const { resource, client } = this.#parts;
    const { results, replays } = await postBatch({
      ...{ client, path: `/api/v2/${resource.name}/batch`, items, signal: this.#signal },
      ...this.#how(`${this.#keyPrefix}-${number}`),
    });
    this.replays += replays;
    return results;
  }

  async #outcome(sent: Data, item: BatchItem | undefined): Promise<RowOutcome> {
    if (item?.status === 'created') {
      const status = item.data?.is_duplicate === true ? 'skipped' : 'created';
      return { status, record: item.data ?? {} };
    }
    const failure = failureOf(item);
    if (failure.status !== 'rejected') return failure;
    const { rejection } = failure;
    const isConflict = rejection.code === 'RESOURCE_CONFLICT';
    if (!isConflict || this.#parts.request.onDuplicate === 'fail') return failure;
    return this.#settleConflict(sent, rejection);
  }

  async #settleConflict(sent: Data, conflict: Rejection): Promise<RowOutcome> {
    const { resource, request, hooks } = this.#parts;
    // The ID of the existing record matters only with hooks.
    if (request.onDuplicate === 'skip' && hooks === undefined) return { status: 'skipped' };
    try {
      const existing = await this.#findExisting(sent, conflict);
      if (request.onDuplicate === 'skip') return { status: 'skipped', record: existing };
      const body = changesFor(resource, sent, existing);
      await this.#patch(`/api/v2/${resource.name}/${existing.id}`, body);
      return { status: 'updated', record: existing };
    } catch (error) {
      if (!(error instanceof RowFault)) throw error;
      return {
        status: 'rejected',
        rejection: { code: error.code, path: error.path, message: error.message },
      };
    }
  }

  /** Repeating a patch after a crash changes nothing, so it does not need a fixed key. */
  async #patch(path: string, body: Data): Promise<void> {
    const { client, hooks } = this.#parts;
    const how = { signal: this.#signal, ...this.#how() };
    try {
      await requestForRow(client, 'PATCH', path, { body, ...how });
    } catch (error) {
      const amended = error instanceof RowFault ? hooks?.amend(body, error) : undefined;
      if (!amended) throw error;
      await requestForRow(client, 'PATCH', path, { body: amended, ...how });
    }
  }

  #how(idempotencyKey?: string): RequestOptions {
    if (this.#keyPrefix === null) return { isDryRun: true };
    return idempotencyKey === undefined ? {} : { idempotencyKey };
  }

  /** The record with the row's unique values; throws the conflict if they belong to several. */
  async #findExisting(sent: Data, conflict: Rejection): Promise<Data> {
    const { resource, client } = this.#parts;
    const found = new Map<string, Data>();
    for (const { filter, value } of uniqueValues(resource, sent)) {
      const query = { [filter]: value, limit: '1' };
      const options = { query, signal: this.#signal };
      const response = await requestForRow(client, 'GET', `/api/v2/${resource.name}`, options);
      for (const record of pageOf(response).records) found.set(String(record.id), record);
    }
    const [existing, second] = [...found.values()];
    if (existing === undefined) throw new RowFault(conflict.code, conflict.path, conflict.message);
    if (second === undefined) return existing;
    const message = `its emails belong to different contacts (${[...found.keys()].join(', ')}), so none was updated`;
    throw new RowFault(conflict.code, conflict.path, message);
  }
}

/** The fields that change an existing record: its primary email is kept, alternative emails are added. */
function changesFor(resource: Resource, sent: Data, existing: Data): Data {
  const writable = Object.entries(sent).filter(([name]) => resource.fields[name]?.access === 'write');
  const changes: Data = Object.fromEntries(writable);
  if (resource.name !== 'contacts') return changes;
  const kept = Array.isArray(existing.alt_emails) ? existing.alt_emails : [];
  const added = Array.isArray(sent.alt_emails) ? sent.alt_emails : [];
  const isSame = (one: unknown, other: unknown): boolean =>
    String(one).toLowerCase() === String(other).toLowerCase();
  if (kept.some((email) => isSame(email, sent.email))) delete changes.email;
  const primary = changes.email ?? existing.email;
  const news = added.filter((email) => !isSame(email, primary) && !kept.some((one) => isSame(one, email)));
  if (added.length > 0) changes.alt_emails = [...kept, ...news];
  return changes;
}
