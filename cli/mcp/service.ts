// The server as tools see it within one call: requests that end with the call, and refusals as errors for assistants.
import type { Data, JsonValue } from '../../db/model/json.ts';
import type { Client, RequestOptions } from '../api/client.ts';
import {
  type ApiResponse,
  type BatchItem,
  type Included,
  includedIn,
  pageOf,
  recordOf,
  unexpectedAnswer,
} from '../api/envelope.ts';
import { listAt, pagesOf } from '../api/pages.ts';
import type { Pipeline } from '../api/pipelines.ts';
import { resourcePath } from '../api/target.ts';
import { CliError } from '../errors.ts';
import { itemError, refusalIn, ToolError, uncertain } from './failures.ts';

/** One page of a list. */
export interface ServicePage {
  records: Data[];
  nextCursor: string | null;
  included: Included;
}

export interface BatchResponse {
  items: BatchItem[];
  requestId: string;
}

type Query = NonNullable<RequestOptions['query']>;

// Clients give up on a call after a minute, and then nobody learns what became of it.
const CALL_SECONDS_MAX = 50;

function lateError(): CliError {
  const nextSteps = ['Try again later; if it lasts, tell the person who runs crm mcp.'];
  return new CliError('The server did not respond in time.', { nextSteps });
}

/** Sends the requests of one call. Each write has an idempotency key of its own, which its retries repeat. */
export class Service {
  readonly #client: Client;
  readonly #signal: AbortSignal;
  readonly #deadline: AbortSignal;

  /**
   * @param signal aborted when nobody waits for the result any more
   * @param secondsMax what all requests together can take
   */
  constructor(client: Client, signal: AbortSignal, secondsMax = CALL_SECONDS_MAX) {
    this.#client = client;
    this.#deadline = AbortSignal.timeout(secondsMax * 1_000);
    this.#signal = AbortSignal.any([signal, this.#deadline]);
  }

  /** The object that a path has, and what it includes. */
  async get(path: string, query: Query = {}): Promise<{ record: Data; included: Included }> {
    const response = await this.#ask('GET', path, { query });
    return { record: recordOf(response), included: includedIn(response) };
  }

  /** One page of the list at a path. */
  async list(path: string, query: Query): Promise<ServicePage> {
    return pageIn(await this.#ask('GET', path, { query }));
  }

  /** One page of what a query finds. */
  async query(path: string, body: Data): Promise<ServicePage> {
    return pageIn(await this.#ask('POST', path, { body, idempotencyKey: null }));
  }

  /** The answer to a POST that only reads. */
  async lookUp(path: string, body: Data): Promise<Data> {
    return recordOf(await this.#ask('POST', path, { body, idempotencyKey: null }));
  }

  /** Writes, and resolves with the record. */
  async write(path: string, body: Data): Promise<Data> {
    return recordOf(await this.#ask('POST', path, { body }));
  }

  /** Carries out a batch; each item has its own status, or error. */
  async writeBatch(path: string, items: readonly (Data | string)[]): Promise<BatchResponse> {
    const response = await this.#ask('POST', path, { body: items });
    const { body, headers } = response;
    if (body.object !== 'batch') throw unexpectedAnswer(response);
    return { items: body.data.items, requestId: headers.get('x-request-id') ?? '' };
  }

  /**
   * Carries out a batch of one item; throws the item's error.
   * @param about the path of what the item is about, where that is another than the batch's
   */
  async writeOne(
    path: string,
    item: Data | string,
    about = path,
  ): Promise<Pick<BatchItem, 'status' | 'data'> & { requestId: string }> {
    const { items, requestId } = await this.writeBatch(path, [item]);
    const [only] = items;
    if (only === undefined) throw new ToolError('INTERNAL_ERROR', 'The server did not say what it did.');
    if (only.error !== undefined) throw itemError(only.error, about);
    return { ...only, requestId };
  }

  /** Which of these records the key cannot find, by their place. */
  async missing(resource: string, ids: readonly string[]): Promise<number[]> {
    const response = await this.#ask('POST', `/api/v2/${resource}/batch/get`, {
      body: ids,
      idempotencyKey: null,
    });
    if (response.body.object !== 'batch') throw unexpectedAnswer(response);
    return response.body.data.items.filter(({ error }) => error !== undefined).map(({ index }) => index);
  }

  /** All pipelines, the oldest first. */
  async pipelines(): Promise<Pipeline[]> {
    const list = {
      ...listAt('/api/v2/pipelines'),
      page: async (_client: Client, cursor: string | null, limit: number) => {
        const query = { sort_direction: 'asc', limit: String(limit), ...(cursor !== null && { cursor }) };
        const response = await this.#ask('GET', '/api/v2/pipelines', { query });
        return { ...pageOf(response), response };
      },
    };
    const pages = await Array.fromAsync(pagesOf(this.#client, list));
    return pages.flatMap(({ records }) => records as Pipeline[]);
  }

  async #ask(method: string, path: string, options: RequestOptions): Promise<ApiResponse> {
    const isRead = method === 'GET' || options.idempotencyKey === null;
    const given = { ...options, signal: this.#signal, expectErrors: true };
    const response = await this.#client.request(method, path, given).catch((error: unknown) => {
      const known = this.#deadline.aborted ? lateError() : error;
      throw isRead ? known : uncertain(known);
    });
    const refusal = refusalIn(response);
    if (refusal !== undefined) throw refusal;
    return response;
  }
}

/** The path of a resource, or of a record. */
export function servicePath(resource: string, id?: JsonValue): string {
  if (id === undefined) return resourcePath({ name: resource });
  try {
    return resourcePath({ name: resource }, String(id));
  } catch {
    throw new ToolError('VALIDATION_INVALID_FORMAT', 'id: must be the ID of a record', {
      steps: ['Find the ID with search or query.'],
    });
  }
}

function pageIn(response: ApiResponse): ServicePage {
  return { ...pageOf(response), included: includedIn(response) };
}

/** The parameters of a query. */
export function queryFrom(given: Data): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(String) : String(value),
    ]),
  );
}
