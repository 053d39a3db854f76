// Checks IDs that the API cannot read, such as those of users, with items that the server is sure to refuse.
import type { Data } from '../../../db/model/json.ts';
import type { Resource } from '../../../db/model/resource.ts';
import { RESOURCES } from '../../../db/model/resources/registry.ts';
import type { Client } from '../../api/client.ts';
import { type BatchItem, unexpectedAnswer } from '../../api/envelope.ts';
import { responseError } from '../../api/response-error.ts';
import { writableFields } from '../plan/headers.ts';
import type { Rejection } from '../row.ts';
import { rejectionOfError } from '../rows/row-request.ts';

/** A reference field, and another field of the resource that prevents the creation of an item. */
interface Asker {
  resource: Resource;
  field: string;
  obstacle: string;
}

const IDS_MAX = 100;
const REMEMBERED_MAX = 10_000;

/** Caches whether a record may refer to an ID. */
export class IdProbe {
  readonly #client: Client;
  readonly #signal: AbortSignal;
  /** By resource and ID: null if a record may refer to it. */
  readonly #answers = new Map<string, Rejection | null>();
  readonly #askers = new Map<string, Asker[]>();

  constructor(client: Client, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  /** Asks about unknown IDs of one field; false if the key is not allowed to ask. */
  async learn(resource: Resource, field: string, ids: readonly string[]): Promise<boolean> {
    const target = resource.fields[field]?.references ?? '';
    if (this.#answers.size > REMEMBERED_MAX) this.#answers.clear();
    const news = [...new Set(ids)].filter((id) => !this.#answers.has(`${target} ${id}`));
    for (let at = 0; at < news.length; at += IDS_MAX) {
      const some = news.slice(at, at + IDS_MAX);
      const answers = await this.#ask(resource, field, some);
      if (answers === undefined) return false;
      for (const [index, id] of some.entries()) this.#answers.set(`${target} ${id}`, answers[index] ?? null);
    }
    return true;
  }

  /** Why a record cannot refer to an ID; null if it can, undefined if unknown. */
  answer(target: string, id: string): Rejection | null | undefined {
    return this.#answers.get(`${target} ${id}`);
  }

  /** Asks with the first resource that the key can write. */
  async #ask(
    resource: Resource,
    field: string,
    ids: readonly string[],
  ): Promise<(Rejection | null)[] | undefined> {
    const key = `${resource.name} ${field}`;
    const askers = this.#askers.getOrInsertComputed(key, () => askersOf(resource, field));
    for (let [asker] = askers; asker !== undefined; [asker] = askers) {
      const items = await this.#send(asker, ids);
      const { field: asked } = asker;
      if (items !== undefined) return items.map((item) => rejectionOfItem(item, asked, field));
      askers.shift();
    }
    return undefined;
  }

  async #send(
    { resource, field, obstacle }: Asker,
    ids: readonly string[],
  ): Promise<BatchItem[] | undefined> {
    const base = { ...smallestBody(resource), [obstacle]: idOfNothing(ids) };
    const response = await this.#client.request('POST', `/api/v2/${resource.name}/batch`, {
      body: ids.map((id) => ({ ...base, [field]: id })),
      idempotencyKey: null,
      signal: this.#signal,
      expectErrors: true,
    });
    const { status, body } = response;
    if (status === 403) return undefined;
    if (body.object === 'error') throw responseError(response);
    if (body.object !== 'batch' || body.data.items.length !== ids.length) throw unexpectedAnswer(response);
    return body.data.items.toSorted((one, other) => one.index - other.index);
  }
}

/** Fields that refer to the same records, in the order to try: the field itself first. */
function askersOf(resource: Resource, field: string): Asker[] {
  const target = resource.fields[field]?.references;
  const others = RESOURCES.filter((other) => other !== resource && other.verbs.includes('batch'));
  return [resource, ...others].flatMap((one) => {
    const references = writableFields(one).filter(([, { references: leadsTo }]) => leadsTo !== undefined);
    const same = one === resource ? field : references.find(([, other]) => other.references === target)?.[0];
    // A wrong owner, or a stage of another pipeline, would be refused before or after the ID in question.
    const [obstacle] =
      references.find(
        ([name, { references: leadsTo }]) =>
          name !== same && !['users', 'pipelines', 'stages'].includes(leadsTo ?? ''),
      ) ?? [];
    return same === undefined || obstacle === undefined ? [] : [{ resource: one, field: same, obstacle }];
  });
}

/** A random ID that no record has, of a UUID version that the service never uses. */
function idOfNothing(asked: readonly string[]): string {
  const id = crypto.randomUUID();
  return asked.includes(id) ? idOfNothing(asked) : id;
}

/** A minimal body that the schema of a create accepts. */
function smallestBody({ fields, identifying }: Resource): Data {
  const required = Object.entries(fields).filter(
    ([, { access, required: isAsked }]) => isAsked && access !== 'read',
  );
  const name = identifying.find((one) => fields[one]?.kind === 'text');
  return {
    ...Object.fromEntries(required.map(([field, { example }]) => [field, example])),
    ...(name !== undefined && { [name]: 'x' }),
  };
}

/** The fault of an item besides its intentional one, for the field in question. */
function rejectionOfItem({ error }: BatchItem, asked: string, meant: string): Rejection | null {
  if (error === undefined) return null;
  if (error.code === 'OPERATION_FORBIDDEN') return rejectionOfError(error);
  const fault = error.details?.find(({ path }) => path === asked);
  return fault === undefined ? null : { code: fault.code ?? error.code, path: meant, message: fault.message };
}
