// Asks the server about ids that cannot be read, such as those of users, by items that it is certain to refuse.
import type { Data } from '../../../db/model/json.ts';
import type { Resource } from '../../../db/model/resource.ts';
import { RESOURCES } from '../../../db/model/resources/registry.ts';
import type { Client } from '../../api/client.ts';
import { type BatchItem, unexpectedAnswer } from '../../api/envelope.ts';
import { responseError } from '../../api/response-error.ts';
import { writableFields } from '../plan/headers.ts';
import type { Rejection } from '../row.ts';
import { rejectionOfError } from '../rows/row-request.ts';

/** A reference field, and another of the same resource that keeps an item from being created. */
interface Asker {
  resource: Resource;
  field: string;
  obstacle: string;
}

const IDS_MAX = 100;
const REMEMBERED_MAX = 10_000;

/** Remembers of ids whether a record may refer to them. */
export class IdProbe {
  readonly #client: Client;
  readonly #signal: AbortSignal;
  /** By resource and id: null where a record may refer to it. */
  readonly #answers = new Map<string, Rejection | null>();
  readonly #askers = new Map<string, Asker[]>();

  constructor(client: Client, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  /** Asks about ids of one field, those that are remembered excepted; false if the key may not even ask. */
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

  /** Why no record may refer to an id; null if it may, undefined if that was never asked. */
  answer(target: string, id: string): Rejection | null | undefined {
    return this.#answers.get(`${target} ${id}`);
  }

  /** What the first resource that the key may write says of the ids. */
  async #ask(
    resource: Resource,
    field: string,
    ids: readonly string[],
  ): Promise<(Rejection | null)[] | undefined> {
    const key = `${resource.name} ${field}`;
    const askers = this.#askers.get(key) ?? askersOf(resource, field);
    this.#askers.set(key, askers);
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

/** Fields that lead to the same records, in the order in which they are to be asked by: the field itself first. */
function askersOf(resource: Resource, field: string): Asker[] {
  const target = resource.fields[field]?.references;
  const others = RESOURCES.filter((other) => other !== resource && other.verbs.includes('batch'));
  return [resource, ...others].flatMap((one) => {
    const references = writableFields(one).filter(([, { references: leadsTo }]) => leadsTo !== undefined);
    const same = one === resource ? field : references.find(([, other]) => other.references === target)?.[0];
    // Another owner, or a stage elsewhere, would be refused before or after what is asked.
    const [obstacle] =
      references.find(
        ([name, { references: leadsTo }]) =>
          name !== same && !['users', 'pipelines', 'stages'].includes(leadsTo ?? ''),
      ) ?? [];
    return same === undefined || obstacle === undefined ? [] : [{ resource: one, field: same, obstacle }];
  });
}

/** An id that no record has and nobody asks about: made at random, of a version that the service never gives. */
function idOfNothing(asked: readonly string[]): string {
  const id = crypto.randomUUID();
  return asked.includes(id) ? idOfNothing(asked) : id;
}

/** What the schema asks of a create, and no more. */
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

/** What an item was refused for beyond its obstacle, told of the field that was meant. */
function rejectionOfItem({ error }: BatchItem, asked: string, meant: string): Rejection | null {
  if (error === undefined) return null;
  if (error.code === 'OPERATION_FORBIDDEN') return rejectionOfError(error);
  const fault = error.details?.find(({ path }) => path === asked);
  return fault === undefined ? null : { code: fault.code ?? error.code, path: meant, message: fault.message };
}
