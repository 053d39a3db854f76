// Requests that wait for the server that is to answer them: each is kept as it came, its body unread.

import { ApiError } from '../errors.ts';
import { startExchange } from '../pipeline/exchange.ts';
import { renderError, toResponse } from '../pipeline/respond.ts';
import { apiOfPath, rawPath } from '../pipeline/route.ts';
import { type Fetch, healthCheck, lastOfConnection } from './drain.ts';

/** How long a request waits in one place. */
export const WAIT_MS_MAX = 15_000;
/** Each takes its head; what it sends beyond that stays with the system. */
const WAITING_MAX = 10_000;
const RETRY_AFTER_SECONDS = 5;

export class Waiting {
  readonly #baseUrl: string;
  readonly #opening = Promise.withResolvers<Fetch | null>();
  #count = 0;

  /** @param baseUrl where clients reach the service, without a trailing slash */
  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
  }

  /** How many requests wait, or have waited and are being answered. */
  get count(): number {
    return this.#count;
  }

  /** Has all that wait, and all that come from now on, answered; sent away where nobody is to answer. */
  open(fetch: Fetch | null): void {
    this.#opening.resolve(fetch);
  }

  readonly fetch = async (request: Request): Promise<Response> => {
    const check = healthCheck(request);
    if (check === 'healthz') return Response.json({ status: 'ok' });
    if (check === 'readyz') return Response.json({ status: 'not ready' }, { status: 503 });
    if (this.#count >= WAITING_MAX) return sendAway(request, this.#baseUrl);
    this.#count += 1;
    const end = Promise.withResolvers<null>();
    const leave = () => end.resolve(null);
    const timer = setTimeout(leave, WAIT_MS_MAX);
    // Whoever has gone may have come again by another connection.
    request.signal.addEventListener('abort', leave);
    try {
      const fetch = await Promise.race([this.#opening.promise, end.promise]);
      const isLost = fetch === null || request.signal.aborted;
      return isLost ? sendAway(request, this.#baseUrl) : await fetch(request);
    } finally {
      clearTimeout(timer);
      request.signal.removeEventListener('abort', leave);
      this.#count -= 1;
    }
  };
}

/** The answer to a request that nobody can answer now, none of which was done. */
export function sendAway(request: Request, baseUrl: string): Response {
  const message = 'The service is being upgraded; try again after a while.';
  const error = new ApiError('DATABASE_UNAVAILABLE', message);
  error.headers['Retry-After'] = String(RETRY_AFTER_SECONDS);
  return lastRefusal(request, error, baseUrl);
}

/** An error as the last answer of its connection. */
export function lastRefusal(request: Request, error: ApiError, baseUrl: string): Response {
  const api = apiOfPath(rawPath(request.url));
  const exchange = startExchange({ request, api, now: Date.now(), baseUrl });
  Object.assign(exchange.headers, error.headers);
  return lastOfConnection(toResponse(exchange, renderError(exchange, error)));
}
