// The time between the signal to stop and the stop: clients still get responses, which send them elsewhere.
import { nextTurn } from '../../db/event-loop.ts';

/** Answers a request. */
export type Fetch = (request: Request) => Response | Promise<Response>;

// Health checks over HTTP/1.0 have no host.
const CHECK = /^(?:\w+:\/\/[^/]*)?\/(readyz|healthz)(?:\?|$)/;
const QUIET_MS = 250;
const USUAL_MS_MAX = 2_000;
const SETTLE_MS_MAX = 2_000;
// One turn to ask the system, and one to receive its answer.
const SETTLE_TURNS = 2;

export class Drain {
  readonly #fetch: Fetch;
  readonly #begunAt = performance.now();
  #lastAt = this.#begunAt;
  /** Requests in progress. */
  #open = 0;
  /** Requests received. */
  #count = 0;

  /** @param fetch answers the requests */
  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  /** Answers each request as the last of its connection, and reports "not ready". */
  readonly fetch = async (request: Request): Promise<Response> => {
    const check = healthCheck(request);
    if (check === 'readyz')
      return withConnectionClose(Response.json({ status: 'not ready' }, { status: 503 }));
    // Health checks do not delay the stop.
    if (check !== undefined) return withConnectionClose(await this.#fetch(request));
    this.#open += 1;
    this.#count += 1;
    try {
      return withConnectionClose(await this.#fetch(request));
    } finally {
      this.#open -= 1;
      this.#lastAt = performance.now();
    }
  };

  /** Resolves after `ms` milliseconds; by default when requests stop arriving, after at most 2 s. */
  async end(ms?: number): Promise<void> {
    if (ms !== undefined) return Bun.sleep(ms);
    const latest = this.#begunAt + USUAL_MS_MAX;
    for (;;) {
      const now = performance.now();
      // A client that is waiting for a response could send another request after it.
      const quietAt = (this.#open > 0 ? now : this.#lastAt) + QUIET_MS;
      const leftMs = Math.min(quietAt, latest) - now;
      if (leftMs <= 0) return;
      await Bun.sleep(leftMs);
    }
  }

  /**
   * Resolves once a turn of the event loop brings no request, after at most 2 s. Requests that arrived while this thread was
   * busy are still with the system, and fail if their connection is closed.
   */
  async settle(): Promise<void> {
    const latest = performance.now() + SETTLE_MS_MAX;
    let before: number;
    do {
      before = this.#count;
      await nextTurns();
    } while (this.#count > before && performance.now() < latest);
  }
}

/** Resolves once the event loop has seen everything that the system held at the time of the call. */
export async function nextTurns(): Promise<void> {
  for (let turn = 0; turn < SETTLE_TURNS; turn++) await nextTurn();
}

/** The name of a health check; undefined for any other request. */
export function healthCheck(request: Request): string | undefined {
  return CHECK.exec(request.url)?.[1];
}

/** The response, marked as the last of its connection. */
export function withConnectionClose(response: Response): Response {
  response.headers.set('Connection', 'close');
  return response;
}
