// Requests that wait, with their bodies unread, for a server that can answer them.
import { ApiError } from '../errors.ts';
import { startExchange } from '../pipeline/exchange.ts';
import { renderError, toResponse } from '../pipeline/respond.ts';
import { apiOfPath, rawPath } from '../pipeline/route.ts';
import { type Fetch, healthCheck, withConnectionClose } from './drain.ts';
import { Listener, type ListenOptions } from './listener.ts';

/** How long a request waits in one place. */
export const WAIT_MS_MAX = 15_000;
/** Each holds its head in memory; the rest stays with the system. */
const WAITING_MAX = 10_000;
const RETRY_AFTER_SECONDS = 5;

export class RequestQueue {
  readonly #baseUrl: string;
  readonly #opening = Promise.withResolvers<Fetch | null>();
  #count = 0;

  /** @param baseUrl the public URL of the service, without a trailing slash */
  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
  }

  /** How many requests wait, or have waited and are in progress. */
  get count(): number {
    return this.#count;
  }

  /** Answers all waiting and later requests with `fetch`; rejects them if it is null. */
  open(fetch: Fetch | null): void {
    this.#opening.resolve(fetch);
  }

  readonly fetch = async (request: Request): Promise<Response> => {
    const check = healthCheck(request);
    if (check === 'healthz') return Response.json({ status: 'ok' });
    if (check === 'readyz') return Response.json({ status: 'not ready' }, { status: 503 });
    if (this.#count >= WAITING_MAX) return upgradeResponse(request, this.#baseUrl);
    this.#count += 1;
    const end = Promise.withResolvers<null>();
    const leave = () => end.resolve(null);
    const timer = setTimeout(leave, WAIT_MS_MAX);
    // A client that has disconnected could already have repeated the request on another connection.
    request.signal.addEventListener('abort', leave);
    try {
      const fetch = await Promise.race([this.#opening.promise, end.promise]);
      const isLost = fetch === null || request.signal.aborted;
      return isLost ? upgradeResponse(request, this.#baseUrl) : await fetch(request);
    } finally {
      clearTimeout(timer);
      request.signal.removeEventListener('abort', leave);
      this.#count -= 1;
    }
  };
}

/** A listener that queues requests until the server can answer them. */
export class QueueingListener {
  readonly listener: Listener;
  readonly #queue: RequestQueue;

  /**
   * Starts to listen.
   * @param baseUrl the public URL of the service, without a trailing slash
   * @throws the system's error if the port is taken, or OpenSSL's if the certificate or its key cannot be used
   */
  constructor(options: Omit<ListenOptions, 'fetch'>, baseUrl: string) {
    this.#queue = new RequestQueue(baseUrl);
    this.listener = new Listener({ ...options, fetch: this.#queue.fetch });
  }

  /** Answers all queued and later requests with `fetch`. */
  open(fetch: Fetch): void {
    this.listener.answerWith(fetch);
    this.#queue.open(fetch);
  }

  /** Rejects all queued requests and stops listening. */
  async close(): Promise<void> {
    this.#queue.open(null);
    await this.listener.stop();
  }
}

/** The response to a request that cannot be answered now; nothing of it was done. */
export function upgradeResponse(request: Request, baseUrl: string): Response {
  const message = 'The service is being upgraded; try again in a few seconds.';
  const error = new ApiError('DATABASE_UNAVAILABLE', message);
  error.headers['Retry-After'] = String(RETRY_AFTER_SECONDS);
  return closingErrorResponse(request, error, baseUrl);
}

/** An error as the last response of its connection. */
export function closingErrorResponse(request: Request, error: ApiError, baseUrl: string): Response {
  const api = apiOfPath(rawPath(request.url));
  const exchange = startExchange({ request, api, now: Date.now(), baseUrl });
  Object.assign(exchange.headers, error.headers);
  return withConnectionClose(toResponse(exchange, renderError(exchange, error)));
}
