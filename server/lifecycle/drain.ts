// The moment between the word to stop and the stop: clients are still answered, and led elsewhere by what they are told.
import { nextTurn } from '../../db/event-loop.ts';

/** How an answer is made. */
export type Fetch = (request: Request) => Response | Promise<Response>;

// Health checks of HTTP/1.0 name no host.
const CHECK = /^(?:\w+:\/\/[^/]*)?\/(readyz|healthz)(?:\?|$)/;
const QUIET_MS = 250;
const USUAL_MS_MAX = 2_000;
const SETTLE_MS_MAX = 2_000;
// One to ask the system, and one to hear from it.
const SETTLE_TURNS = 2;

export class Drain {
  readonly #fetch: Fetch;
  readonly #begunAt = performance.now();
  #lastAt = this.#begunAt;
  /** Requests that are being answered. */
  #open = 0;
  /** Requests that have come. */
  #count = 0;

  /** @param fetch makes the answers */
  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  /** Answers, each time as the last of a connection, and that it is not ready. */
  readonly fetch = async (request: Request): Promise<Response> => {
    const check = healthCheck(request);
    if (check === 'readyz') return lastOfConnection(Response.json({ status: 'not ready' }, { status: 503 }));
    // Whoever only looks whether it lives keeps nothing going.
    if (check !== undefined) return lastOfConnection(await this.#fetch(request));
    this.#open += 1;
    this.#count += 1;
    try {
      return lastOfConnection(await this.#fetch(request));
    } finally {
      this.#open -= 1;
      this.#lastAt = performance.now();
    }
  };

  /** Resolves after so many milliseconds; as soon as requests cease to come, and after 2 s at most, where none are given. */
  async end(ms?: number): Promise<void> {
    if (ms !== undefined) return Bun.sleep(ms);
    const latest = this.#begunAt + USUAL_MS_MAX;
    for (;;) {
      const now = performance.now();
      // Whoever waits for an answer may come again with the next.
      const quietAt = (this.#open > 0 ? now : this.#lastAt) + QUIET_MS;
      const leftMs = Math.min(quietAt, latest) - now;
      if (leftMs <= 0) return;
      await Bun.sleep(leftMs);
    }
  }

  /**
   * Resolves once a turn of the event loop has brought no request, after 2 s at most. What came while this thread was busy
   * is with the system still, and fails if its connection is closed then.
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

/** Resolves once the event loop has seen all that was with the system when this was called. */
export async function nextTurns(): Promise<void> {
  for (let turn = 0; turn < SETTLE_TURNS; turn++) await nextTurn();
}

/** Which health check a request is; undefined for every other. */
export function healthCheck(request: Request): string | undefined {
  return CHECK.exec(request.url)?.[1];
}

/** The answer, with the word that none follows on its connection. */
export function lastOfConnection(response: Response): Response {
  response.headers.set('Connection', 'close');
  return response;
}
