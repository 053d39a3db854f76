// The names of records that changes refer to by ID, for lines that people read.
import { type Data, isObject } from '../../db/model/json.ts';
import { findResource } from '../../db/model/resources/registry.ts';
import type { Client } from '../api/client.ts';
import type { Envelope } from '../api/envelope.ts';
import { OWNED } from '../api/names.ts';
import { ownerField } from '../api/owners.ts';
import { isText, nameOf } from '../api/record-name.ts';
import { isRefusal } from '../errors.ts';
import type { FeedChange } from './change.ts';

const NAMES_MAX = 10_000;
const IDS_PER_REQUEST = 100;
const OWNED_RECORDS_MAX = 200;

/** Finds names, and remembers them. What the key cannot read has none. */
export class Names {
  readonly #client: Client;
  readonly #signal: AbortSignal;
  readonly #names = new Map<string, string | null>();

  constructor(client: Client, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  /** The name of a record that was learned; null if there is none. */
  of(id: string): string | null {
    return this.#names.get(id) ?? null;
  }

  /** Learns the name of every record that the changes mention. */
  async learn(changes: readonly FeedChange[]): Promise<void> {
    if (this.#names.size > NAMES_MAX) this.#names.clear();
    for (const { record_id, record, before, action } of changes) {
      const shown = record ?? (action === 'deleted' ? before : null);
      if (shown !== null) this.#names.set(record_id, nameOf(shown));
    }
    await this.learnMentioned(changes.flatMap(mentionsOf));
  }

  /** Learns the names of these records (or `stages`), by the plural of their resource. */
  async learnMentioned(all: readonly { resource: string; id: string }[]): Promise<void> {
    const mentioned = all.filter(({ id }) => !this.#names.has(id));
    for (const [resource, some] of Map.groupBy(mentioned, (mention) => mention.resource)) {
      const ids = [...new Set(some.map(({ id }) => id))];
      for (const id of ids) this.#names.set(id, null);
      if (resource === 'stages') await this.#learnStages();
      else if (resource === 'users') await this.#learnUsers(ids);
      else if (findResource(resource) !== undefined) await this.#learnRecords(resource, ids);
    }
  }

  async #learnRecords(resource: string, ids: readonly string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += IDS_PER_REQUEST) {
      const body = ids.slice(at, at + IDS_PER_REQUEST);
      const answer = await this.#ask('POST', `/api/v2/${resource}/batch/get`, body);
      if (answer?.object !== 'batch') return;
      for (const { data } of answer.data.items) if (data !== undefined) this.#take(data);
    }
  }

  // The interface has no list of users: they come with what they own.
  async #learnUsers(ids: readonly string[]): Promise<void> {
    for (const resource of OWNED) {
      const missing = ids.filter((id) => this.of(id) === null).slice(0, IDS_PER_REQUEST);
      if (missing.length === 0) return;
      const filter = { [ownerField(resource)]: { in: missing } };
      const query = { filter, fields: ['id'], include: ['owner'], limit: OWNED_RECORDS_MAX };
      const answer = await this.#ask('POST', `/api/v2/${resource}/query`, query);
      if (answer?.object !== 'list') continue;
      for (const user of Object.values(answer.included?.users ?? {})) this.#take(user);
    }
  }

  async #learnStages(): Promise<void> {
    const answer = await this.#ask('GET', '/api/v2/pipelines?limit=200');
    if (answer?.object !== 'list') return;
    for (const { stages } of answer.data)
      for (const stage of Array.isArray(stages) ? stages : []) if (isObject(stage)) this.#take(stage);
  }

  #take(record: Data): void {
    if (typeof record.id === 'string') this.#names.set(record.id, nameOf(record));
  }

  /** The response; undefined if the server refuses the request. */
  async #ask(method: string, path: string, body?: readonly string[] | Data): Promise<Envelope | undefined> {
    try {
      const options = { signal: this.#signal, keepsTrying: true, idempotencyKey: null };
      return (await this.#client.request(method, path, { ...options, ...(body && { body }) })).body;
    } catch (error) {
      if (isRefusal(error)) return undefined;
      throw error;
    }
  }
}

function mentionsOf({
  resource,
  before,
  after,
  link,
  action,
}: FeedChange): { resource: string; id: string }[] {
  const linked = link === null ? [] : [{ resource: String(link.resource), id: String(link.id) }];
  if (action !== 'updated') return linked;
  const fields = findResource(resource)?.fields ?? {};
  return [before, after].flatMap((values) =>
    Object.entries(values ?? {}).flatMap(([name, id]) => {
      const referred = fields[name]?.references;
      return referred === undefined || !isText(id) ? [] : [{ resource: referred, id }];
    }),
  );
}
