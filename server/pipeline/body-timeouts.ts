// How slowly a body can arrive: limits each pause, and the total time from its first byte.
import { ApiError } from '../errors.ts';

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
  /** When the first piece arrived. */
  #begunAt: number | null = null;
  /** When the wait for the next piece began, and what ends it. */
  #since = 0;
  #giveUp: ((error: ApiError) => void) | null = null;
  #timer: Timer | null = null;

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
    ending.addEventListener('abort', this.#end);
  }

  /** Waits for the next piece; @throws ApiError 408 if it or the whole body takes too long, 503 if the server stops */
  limit<T>(piece: Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#since = performance.now();
    this.#giveUp = reject;
    this.#timer ??= setTimeout(this.#look, this.#leftMs());
    if (this.#ending.aborted) this.#end();
    piece.then((value) => {
      this.#begunAt ??= performance.now();
      this.#giveUp = null;
      resolve(value);
    }, reject);
    return promise;
  }

  /** Call this when no more pieces are expected. */
  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#ending.removeEventListener('abort', this.#end);
  }

  readonly #end = (): void => {
    const message =
      'The service is shutting down and has not received the whole body; send the request again.';
    const headers = { 'Retry-After': '1', Connection: 'close' };
    this.#giveUp?.(
      new ApiError('DATABASE_UNAVAILABLE', message, {
        headers,
        cause: 'the body was incomplete when the server stopped',
      }),
    );
  };

  // One timer serves all pieces.
  readonly #look = (): void => {
    const leftMs = this.#leftMs();
    this.#timer = this.#giveUp !== null && leftMs > 0 ? setTimeout(this.#look, leftMs) : null;
    if (leftMs <= 0) this.#giveUp?.(this.#tooSlow());
  };

  #leftMs(): number {
    return Math.min(this.#since + this.#timeout.pauseMs, this.#wholeAt()) - performance.now();
  }

  #wholeAt(): number {
    return this.#begunAt === null ? Number.POSITIVE_INFINITY : this.#begunAt + this.#timeout.wholeMs;
  }

  #tooSlow(): ApiError {
    const { pauseMs, wholeMs } = this.#timeout;
    const hint = this.#begunAt === null && this.#hint !== '' ? ` ${this.#hint}` : '';
    const message =
      performance.now() < this.#wholeAt()
        ? `No data of the body arrived for ${pauseMs / SECOND_MS} s; send the request again.${hint}`
        : `The body must arrive within ${wholeMs / SECOND_MS} s of its first byte; send less at once, or send it faster.`;
    return new ApiError('BODY_TOO_SLOW', message, { headers: { Connection: 'close' } });
  }
}
