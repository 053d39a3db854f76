// How slowly a body can arrive: limits each pause, and the total time from its first byte.
import { ApiError } from '../errors.ts';
import { type StallTolerantTimeout, setStallTolerantTimeout } from './stall-tolerant-timeout.ts';

/** How long a body can take, in milliseconds. */
export interface BodyTimeout {
  /** Without receiving a byte. */
  pauseMs: number;
  /** From the first byte to the last. */
  wholeMs: number;
}

/** The timeouts of a record's body and of a batch's. */
export interface BodyTimeouts {
  record: BodyTimeout;
  batch: BodyTimeout;
}

/** The timeouts in production; tests use shorter ones. */
export const BODY_TIMEOUTS: BodyTimeouts = {
  record: { pauseMs: 15_000, wholeMs: 60_000 },
  batch: { pauseMs: 15_000, wholeMs: 120_000 },
};

const SECOND_MS = 1000;
const NEVER = new AbortController().signal;

export class BodyTimer {
  readonly #timeout: BodyTimeout;
  readonly #hint: string;
  readonly #ending: AbortSignal;
  readonly #failed = Promise.withResolvers<never>();
  /** Limits the time from the first byte. */
  #whole: StallTolerantTimeout | null = null;

  /**
   * @param hint a sentence about what could delay the first byte; '' if unknown
   * @param ending signals that the server is about to stop
   */
  constructor(
    timeout: BodyTimeout,
    { hint = '', ending = NEVER }: { hint?: string; ending?: AbortSignal } = {},
  ) {
    this.#timeout = timeout;
    this.#hint = hint;
    this.#ending = ending;
    // It can fail between two pieces, when nobody waits for it.
    this.#failed.promise.catch(() => undefined);
    ending.addEventListener('abort', this.#end);
    if (ending.aborted) this.#end();
  }

  /** Waits for the next piece; @throws ApiError 408 if it or the whole body takes too long, 503 if the server stops */
  async limit<T>(piece: Promise<T>): Promise<T> {
    const { pauseMs, wholeMs } = this.#timeout;
    const hint = this.#whole === null && this.#hint !== '' ? ` ${this.#hint}` : '';
    const paused = `No data of the body arrived for ${pauseMs / SECOND_MS} s; send the request again.${hint}`;
    const pause = this.#failAfter(pauseMs, paused);
    try {
      return await Promise.race([piece, this.#failed.promise]);
    } finally {
      pause.clear();
      const seconds = wholeMs / SECOND_MS;
      this.#whole ??= this.#failAfter(
        wholeMs,
        `The body must arrive within ${seconds} s of its first byte; send less at once, or send it faster.`,
      );
    }
  }

  /** Call this when no more pieces are expected. */
  stop(): void {
    this.#whole?.clear();
    this.#ending.removeEventListener('abort', this.#end);
  }

  #failAfter(ms: number, message: string): StallTolerantTimeout {
    const headers = { Connection: 'close' };
    const fail = () => this.#failed.reject(new ApiError('BODY_TOO_SLOW', message, { headers }));
    return setStallTolerantTimeout(fail, ms);
  }

  readonly #end = (): void => {
    const message =
      'The service is shutting down and has not received the whole body; send the request again.';
    const headers = { 'Retry-After': '1', Connection: 'close' };
    const cause = 'the body was incomplete when the server stopped';
    this.#failed.reject(new ApiError('DATABASE_UNAVAILABLE', message, { headers, cause }));
  };
}
