// Where requests wait for the server that is to answer them: each is kept as it came, its body unread.
import { type Fetch, healthCheck, lastOfConnection } from './drain.ts';
import { ApiError } from './errors.ts';
import { Listener, type ListenOptions } from './listener.ts';
import { startExchange } from './pipeline/exchange.ts';
import { renderError, toResponse } from './pipeline/respond.ts';
import { apiOfPath, rawPath } from './pipeline/route.ts';

const WAIT_MS_MAX = 15_000;
/** Each takes its head; what it sends beyond that stays with the system. */
const WAITING_MAX = 10_000;
const RETRY_AFTER_SECONDS = 5;

export class WaitingRoom {
  readonly listener: Listener;
  readonly #baseUrl: string;
  readonly #opening = Promise.withResolvers<Fetch | null>();
  #count = 0;

  /**
   * Starts to listen.
   * @param baseUrl where clients reach the service, without a trailing slash
   * @throws the system's error if the address cannot be taken, or OpenSSL's if the certificate or its key cannot be used
   */
  constructor(options: Omit<ListenOptions, 'fetch'>, baseUrl: string) {
    this.#baseUrl = baseUrl;
    this.listener = new Listener({ ...options, fetch: (request) => this.#keep(request) });
  }

  /** Has all that wait, and all that come from now on, answered. */
  open(fetch: Fetch): void {
    this.listener.answerWith(fetch);
    this.#opening.resolve(fetch);
  }

  /** Sends away all that wait, and listens no more. */
  async close(): Promise<void> {
    this.#opening.resolve(null);
    await this.listener.stop();
  }

  async #keep(request: Request): Promise<Response> {
    const check = healthCheck(request);
    if (check === 'healthz') return Response.json({ status: 'ok' });
    if (check === 'readyz') return Response.json({ status: 'not ready' }, { status: 503 });
    if (this.#count >= WAITING_MAX) return this.#sendAway(request);
    this.#count += 1;
    const late = Promise.withResolvers<null>();
    const timer = setTimeout(late.resolve, WAIT_MS_MAX, null);
    try {
      const fetch = await Promise.race([this.#opening.promise, late.promise]);
      // Whoever has gone may have come again by another connection.
      return fetch === null || request.signal.aborted ? this.#sendAway(request) : await fetch(request);
    } finally {
      clearTimeout(timer);
      this.#count -= 1;
    }
  }

  #sendAway(request: Request): Response {
    const message = 'The service is being upgraded; try again after a while.';
    const error = new ApiError('DATABASE_UNAVAILABLE', message);
    const api = apiOfPath(rawPath(request.url));
    const exchange = startExchange({ request, api, now: Date.now(), baseUrl: this.#baseUrl });
    exchange.headers['Retry-After'] = String(RETRY_AFTER_SECONDS);
    return lastOfConnection(toResponse(exchange, renderError(exchange, error)));
  }
}
