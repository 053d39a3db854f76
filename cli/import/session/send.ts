// Sends one batch: rows that may exist are upserted, the others created.
import { type Data, isObject, type JsonValue } from '../../../db/model/json.ts';
import type { Resource } from '../../../db/model/resource.ts';
import type { OnMatch } from '../../../db/model/upserts.ts';
import type { BatchItem } from '../../api/envelope.ts';
import type { RowOutcome } from '../row.ts';
import { rejectionOfError } from '../rows/row-request.ts';
import type { ImportParts } from './import-parts.ts';
import type { PendingBatch } from './journal-state.ts';
import { duplicatedIdOf, failureOf, postBatch } from './post-batch.ts';

const NO_RESULT: BatchItem = { index: 0, status: 'error' };
const UNREADABLE: BatchItem = {
  ...NO_RESULT,
  error: {
    code: 'AUTH_INSUFFICIENT_SCOPE',
    message: 'alternative emails are added to those of the contact, which the key cannot read',
  },
};

/** Sends the batches of one pass. */
export class Sender {
  readonly #parts: ImportParts;
  readonly #keyPrefix: string | null;
  readonly #signal: AbortSignal;
  readonly #policy: OnMatch | null;
  /** Responses that the server replayed. */
  replays = 0;

  /** Idempotency keys are `keyPrefix` and the number of a batch; null makes it a dry run, which has none. */
  constructor(parts: ImportParts, keyPrefix: string | null) {
    this.#parts = parts;
    this.#keyPrefix = keyPrefix;
    this.#signal = parts.interruption.signal;
    this.#policy = parts.plan.matching?.onMatch ?? null;
  }

  /** One result per row of the batch; rows that were already rejected stay rejected. */
  async send(batch: PendingBatch): Promise<RowOutcome[]> {
    const bodies = batch.rows.flatMap((row) => ('body' in row ? [row.body] : []));
    const items = await this.#store(batch.number, bodies);
    const outcomes = (await this.#addEmails(bodies, items))
      .map((item, at) => this.#outcome(bodies[at] ?? {}, item))
      .values();
    return batch.rows.map((row) => {
      if ('rejection' in row) return { status: 'rejected', rejection: row.rejection };
      return outcomes.next().value ?? this.#outcome(row.body, undefined);
    });
  }

  /** Upserts the bodies that say what to do with the record that they match, and creates the others. */
  async #store(number: number, bodies: readonly Data[]): Promise<BatchItem[]> {
    const { true: upserts = [], false: creates = [] } = Object.groupBy([...bodies.entries()], ([, body]) =>
      String('on_match' in body),
    );
    const created = await this.#post(
      'batch',
      String(number),
      creates.map(([, body]) => body),
    );
    const upserted = await this.#post(
      'batch/upsert',
      `${number}-${upserts[0]?.[1].on_match}`,
      upserts.map(([, body]) => (addsEmails(body) ? { ...body, on_match: 'keep' } : body)),
    );
    const items = [...creates, ...upserts].map(([index], at) => ({
      ...([...created, ...upserted][at] ?? NO_RESULT),
      index,
    }));
    return items.sort((one, other) => one.index - other.index);
  }

  /**
   * The items, after the changes of contacts to which rows add alternative emails: an upsert would replace those that are
   * there, so it only finds them. Repeating a change after a crash changes nothing, so it does not need a fixed key.
   */
  async #addEmails(bodies: readonly Data[], items: readonly BatchItem[]): Promise<BatchItem[]> {
    const ids = items.map((item, at) => idToChange(bodies[at] ?? {}, item, this.#policy));
    const records = new Map(
      items.flatMap(({ data }) => (data === undefined ? [] : [[String(data.id), data]])),
    );
    const others = [...new Set(ids.flatMap((id) => (id === undefined || records.has(id) ? [] : [id])))];
    for (const { data } of await this.#post('batch/get', null, others))
      if (data !== undefined) records.set(String(data.id), data);
    const result = [...items];
    const changed = ids.flatMap((id, at) => {
      const [record, body] = [records.get(id ?? ''), bodies[at]];
      if (id === undefined || record === undefined || body === undefined) return [];
      if (!Array.isArray(record.alt_emails)) {
        result[at] = UNREADABLE;
        return [];
      }
      const changes = changesFor(this.#parts.resource, body, record);
      records.set(id, { ...record, ...changes });
      return [{ at, changes: { id, ...changes } }];
    });
    const answers = await this.#post(
      'batch/update',
      null,
      changed.map(({ changes }) => changes),
    );
    for (const [index, { at }] of changed.entries()) {
      const answer = answers[index] ?? NO_RESULT;
      // An external ID that was added is a change too.
      const isChanged = answer.status === 'unchanged' && items[at]?.status === 'updated';
      result[at] = isChanged ? { ...answer, status: 'updated' } : answer;
    }
    return result;
  }

  /** Sends one batch; items that were rejected and can be amended are sent again. */
  async #post(operation: string, number: string | null, bodies: readonly JsonValue[]): Promise<BatchItem[]> {
    if (bodies.length === 0) return [];
    const items = await this.#postOnce(operation, number, bodies);
    const { hooks } = this.#parts;
    const amended = items.flatMap(({ error }, at) => {
      const body = bodies[at];
      const again = error && isObject(body) && hooks?.amend(body, rejectionOfError(error));
      return again ? [{ at, body: again }] : [];
    });
    if (amended.length === 0) return items;
    const again = amended.map(({ body }) => body);
    const answers = await this.#postOnce(operation, number && `${number}-amended`, again);
    for (const [index, { at }] of amended.entries()) items[at] = answers[index] ?? NO_RESULT;
    return items;
  }

  async #postOnce(
    operation: string,
    number: string | null,
    items: readonly JsonValue[],
  ): Promise<BatchItem[]> {
    const { resource, client } = this.#parts;
    const { results, replays } = await postBatch({
      ...{ client, path: `/api/v2/${resource.name}/${operation}`, items, signal: this.#signal },
      ...(this.#keyPrefix === null
        ? { isDryRun: true }
        : number !== null && { idempotencyKey: `${this.#keyPrefix}-${number}` }),
    });
    this.replays += replays;
    return results;
  }

  #outcome(body: Data, item: BatchItem | undefined): RowOutcome {
    const { status, data: record = {} } = item ?? NO_RESULT;
    if (status === 'created') return { status: record.is_duplicate === true ? 'skipped' : 'created', record };
    if (status === 'updated') return { status, record };
    const isKept = (body.on_match ?? this.#policy) === 'keep';
    if (status === 'unchanged') return { status: isKept ? 'skipped' : 'unchanged', record };
    const failure = failureOf(item);
    if (failure.status !== 'rejected' || !isKept) return failure;
    const { rejection, record: owner } = failure;
    // A row whose external ID is in the way is wrong, whatever happens to those whose record exists.
    if (rejection.code !== 'RESOURCE_CONFLICT' || rejection.path.startsWith('external_id')) return failure;
    return { status: 'skipped', ...(owner && { record: owner }) };
  }
}

/** The contact to which a row adds alternative emails, also if it only has one of them; undefined for other rows. */
function idToChange(body: Data, item: BatchItem, policy: OnMatch | null): string | undefined {
  if (!addsEmails({ on_match: policy ?? '', ...body })) return undefined;
  const { status, data, error } = item;
  if (status === 'updated' || status === 'unchanged') return String(data?.id);
  const isFound = error?.code === 'RESOURCE_CONFLICT' && body.external_id === undefined;
  return isFound ? duplicatedIdOf(error) : undefined;
}

/** Whether a row adds alternative emails to a contact that it finds. */
function addsEmails({ on_match: onMatch, alt_emails: emails }: Data): boolean {
  return onMatch === 'update' && Array.isArray(emails) && emails.length > 0;
}

/** The fields that change an existing record: its primary email is kept, alternative emails are added. */
function changesFor(resource: Resource, sent: Data, existing: Data): Data {
  const writable = Object.entries(sent).filter(([name]) => resource.fields[name]?.access === 'write');
  const changes: Data = Object.fromEntries(writable);
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
