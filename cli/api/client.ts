// The HTTP client of all data commands: waits for rate limits, retries failed requests, explains errors.

import { setTimeout as sleep } from 'node:timers/promises';
import { CliError, EXIT, isRefusal } from '../errors.ts';
import { serverBase } from '../settings/server-url.ts';
import type { Wait } from '../terminal/wait-reasons.ts';
import { waitAfter } from './backoff.ts';
import { ConnectionError, connectionFailureOf } from './connection-error.ts';
import type { ApiResponse, Envelope } from './envelope.ts';
import { explainRefusedKey } from './key-hints.ts';
import { isRefusedKey, responseError } from './response-error.ts';
import { Trace, type TracedInit } from './trace.ts';

export interface RequestOptions {
  /** A parameter with several values is sent several times. */
  query?: Record<string, string | readonly string[]>;
  body?: unknown;
  /** JSON text to send unchanged, so that the server validates what was written. */
  rawBody?: string;
  /** Generated for POST and PATCH by default; every retry repeats it. Null for requests that write nothing. */
  idempotencyKey?: string | null;
  /** Headers beyond those that every request has, or in their place; names in lower case. */
  headers?: Record<string, string>;
  /** Any response below 500 is returned, also one that is no envelope: its body is then `none`. */
  isRaw?: boolean;
  /** Has the server undo the write. Such a request carries no idempotency key, because nothing is stored. */
  isDryRun?: boolean;
  signal?: AbortSignal;
  /** 4xx envelopes are returned instead of thrown (429 is still retried). */
  expectErrors?: boolean;
  /** Once the server has responded, failures are retried until it does again, however long that takes. */
  keepsTrying?: boolean;
}

export interface ClientOptions {
  url: string;
  apiKey: string;
  userAgent?: string;
  onWait?: (wait: Wait) => void;
  /** The longest that a request waits in all before its last failure counts; without end by default. */
  waitSecondsMax?: number;
}

interface Sending {
  url: string;
  init: TracedInit;
  signal: AbortSignal | undefined;
}

const TRIES_MAX = 8;
// A server that never responded is probably not running: say so soon.
const TRIES_MAX_UNREACHED = 4;
const ATTEMPT_TIMEOUT_MS = 120_000;

/** Talks to one server with one key. */
export class Client {
  readonly #base: string;
  readonly #apiKey: string;
  readonly #headers: Record<string, string>;
  readonly #onWait: (wait: Wait) => void;
  readonly #waitSecondsMax: number;
  #hasReachedServer = false;
  #takesDryRun = false;
  /** Requests that got a response, each counted once however many attempts it took. */
  answered = 0;

  constructor(options: ClientOptions) {
    this.#base = serverBase(options.url);
    this.#apiKey = checkedKey(options.apiKey);
    this.#headers = {
      accept: 'application/json',
      authorization: `Bearer ${this.#apiKey}`,
      'user-agent': options.userAgent ?? 'crm-cli',
    };
    this.#onWait = options.onWait ?? (() => {});
    this.#waitSecondsMax = options.waitSecondsMax ?? Number.POSITIVE_INFINITY;
  }

  /** Sends one request (`path` begins with `/api/v…`) and resolves with its response, however many attempts it takes. */
  async request(method: string, path: string, options: RequestOptions = {}): Promise<ApiResponse> {
    const url = `${this.#base}${path}${queryString(options.query)}`;
    const init = this.#requestInit(method, options);
    const { signal } = options;
    if (options.isDryRun && !this.#takesDryRun) await this.#checkTakesDryRun(signal);
    const trace = new Trace();
    let waited = 0;
    // Whether an earlier attempt may have been carried out although its response did not come.
    let mayHaveArrived = false;
    for (let tries = 1; ; ) {
      const outcome = await this.#attempt(trace, { url, init, signal });
      if (outcome instanceof Response && outcome.status < 500 && outcome.status !== 429) {
        this.answered += 1;
        if (options.isDryRun && outcome.ok && outcome.headers.get('dry-run') !== 'true')
          throw dryRunIgnored(options.body);
        const answer = this.#answerOf(method, path, outcome, options);
        return mayHaveArrived && method === 'DELETE' ? deletedBefore(answer, { method, path }) : answer;
      }
      const wait = waitAfter(outcome, tries);
      const isLimit = wait.reason === 'rate limit';
      mayHaveArrived ||=
        outcome instanceof Error ? connectionFailureOf(this.#base, outcome).mayHaveArrived : !isLimit;
      waited += wait.seconds;
      if (waited > this.#waitSecondsMax || (!isLimit && tries >= this.#triesMax(options))) {
        if (outcome instanceof Response) return this.#answerOf(method, path, outcome, options);
        throw new ConnectionError(this.#base, outcome, mayHaveArrived);
      }
      trace.waits(wait, outcome instanceof Response && isLimit ? outcome.headers.get('retry-after') : null);
      await this.#wait(wait, signal);
      if (!isLimit) tries += 1;
    }
  }

  #triesMax({ keepsTrying = false }: RequestOptions): number {
    if (!this.#hasReachedServer) return TRIES_MAX_UNREACHED;
    return keepsTrying ? Number.POSITIVE_INFINITY : TRIES_MAX;
  }

  /** Throws a CliError if the server is too old to know `Dry-Run`: it would ignore the header, and write. */
  async #checkTakesDryRun(signal: AbortSignal | undefined): Promise<void> {
    try {
      // This endpoint was introduced together with the header.
      await this.request('GET', '/api/v2/authenticate', signal && { signal });
      this.#takesDryRun = true;
    } catch (error) {
      if (!isRefusal(error, 404)) throw error;
      throw new CliError('This server is too old for a dry run. Nothing was written.', {
        nextSteps: ['upgrade the server, or run the command without --dry-run.'],
        cause: error,
      });
    }
  }

  #requestInit(method: string, options: RequestOptions): TracedInit {
    const headers: Record<string, string> = { ...this.#headers };
    if (options.isDryRun) headers['dry-run'] = 'true';
    else if ((method === 'POST' || method === 'PATCH') && options.idempotencyKey !== null) {
      headers['idempotency-key'] = options.idempotencyKey ?? crypto.randomUUID();
    }
    const body = options.rawBody ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    if (body !== undefined) headers['content-type'] = 'application/json';
    Object.assign(headers, options.headers);
    return { method, headers, ...(body !== undefined && { body }) };
  }

  async #attempt(trace: Trace, { url, init, signal }: Sending): Promise<Response | Error> {
    const timeout = AbortSignal.timeout(ATTEMPT_TIMEOUT_MS);
    try {
      const response = await trace.fetch(url, {
        ...init,
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      });
      this.#hasReachedServer = true;
      // Read to the end here: a connection that breaks within the body is retried too.
      const { status, headers } = response;
      const text = await response.text();
      return new Response(text === '' ? null : text, { status, headers });
    } catch (error) {
      signal?.throwIfAborted();
      // After a first success, even an unknown host name may be temporary.
      if (!this.#hasReachedServer && connectionFailureOf(this.#base, error).isLasting)
        throw new ConnectionError(this.#base, error, false);
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  async #answerOf(
    method: string,
    path: string,
    response: Response,
    options: RequestOptions,
  ): Promise<ApiResponse> {
    const { status, headers } = response;
    const text = await response.text();
    const body: Envelope | undefined =
      text === '' && status === 204 ? { object: 'none' } : parseEnvelope(text);
    if (options.isRaw === true && status < 500)
      return { method, path, status, headers, body: body ?? { object: 'none' }, text };
    const isExpected = status < 300 || (options.expectErrors === true && status >= 400 && status < 500);
    if (body !== undefined && isExpected) return { method, path, status, headers, body, text };
    const failed = { method, path, status, headers, body };
    throw responseError(failed, isRefusedKey(body) ? explainRefusedKey(this.#apiKey, path) : undefined);
  }

  async #wait(wait: Wait, signal: AbortSignal | undefined): Promise<void> {
    this.#onWait(wait);
    // The timer rejects with its own error, but the signal has the reason.
    await sleep(wait.seconds * 1000, undefined, { signal }).catch(() => signal?.throwIfAborted());
  }
}

// A DELETE has no idempotency key: what is gone now was deleted by the attempt before.
async function deletedBefore(
  answer: Promise<ApiResponse>,
  asked: { method: string; path: string },
): Promise<ApiResponse> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof CliError && error.apiCode === 'RESOURCE_NOT_FOUND')) throw error;
    return { ...asked, status: 204, headers: new Headers(), body: { object: 'none' }, text: '' };
  }
}

function dryRunIgnored(body: unknown): CliError {
  const wayOut = 'configure the proxy in front of the server to pass the Dry-Run header in both directions.';
  if (Array.isArray(body) && body.length === 0) {
    const message = 'The header Dry-Run did not reach the server. Nothing was written.';
    return new CliError(message, { nextSteps: [wayOut] });
  }
  return new CliError('The dry run was carried out for real: the header Dry-Run did not reach the server.', {
    nextSteps: [`undo the write, and ${wayOut}`],
  });
}

function checkedKey(apiKey: string): string {
  if (/^[\x21-\x7e]+$/.test(apiKey)) return apiKey;
  throw new CliError('The API key contains spaces or other invalid characters.', {
    exitCode: EXIT.auth,
    nextSteps: ['check CRM_API_KEY or the key file. It must contain the key and nothing else.'],
  });
}

function queryString(query: RequestOptions['query'] = {}): string {
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
  // Spaces as %20, not as +: the service would read + in a phone number as an unencoded plus.
  const text = new URLSearchParams(pairs).toString().replaceAll('+', '%20');
  return text === '' ? '' : `?${text}`;
}

function parseEnvelope(text: string): Envelope | undefined {
  try {
    const value = JSON.parse(text) as { object?: unknown } | null;
    return typeof value === 'object' && value !== null && typeof value.object === 'string'
      ? (value as Envelope)
      : undefined;
  } catch {
    return undefined;
  }
}
