// How slowly a body may come: it may pause for so long, and has to be whole so long after its first byte was read.
import { ApiError } from '../errors.ts';

/** How long a body may take, in milliseconds. */
export interface BodyPace {
  /** Without a byte. */
  pauseMs: number;
  /** From when its first byte is read. */
  wholeMs: number;
}

/** The pace of a record's body, and that of a batch's. */
export interface BodyPaces {
  record: BodyPace;
  batch: BodyPace;
}

/** Unless a test has less time. */
export const BODY_PACES: BodyPaces = {
  record: { pauseMs: 15_000, wholeMs: 60_000 },
  batch: { pauseMs: 15_000, wholeMs: 120_000 },
};

const SECOND_MS = 1000;
const NEVER = new AbortController().signal;

export class BodyClock {
  readonly #pace: BodyPace;
  readonly #hint: string;
  readonly #ending: AbortSignal;
  /** When the first piece had come. */
  #begunAt: number | null = null;
  /** Since when the next one is waited for, and what ends that. */
  #since = 0;
  #giveUp: ((error: ApiError) => void) | null = null;
  #timer: Timer | null = null;

  /**
   * @param hint what may keep the first byte from coming, as a sentence; '' where nothing is known
   * @param ending says when the server is about to stop
   */
  constructor(pace: BodyPace, { hint = '', ending = NEVER }: { hint?: string; ending?: AbortSignal } = {}) {
    this.#pace = pace;
    this.#hint = hint;
    this.#ending = ending;
    ending.addEventListener('abort', this.#end);
  }

  /** Waits for the next piece; @throws ApiError 408 once that one, or all of them, took too long, 503 if the server stops */
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

  /** To be called when no piece is waited for any more. */
  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#ending.removeEventListener('abort', this.#end);
  }

  readonly #end = (): void => {
    const message = 'The service stops, and the body is not here whole; send the request again.';
    const headers = { 'Retry-After': '1', Connection: 'close' };
    this.#giveUp?.(
      new ApiError('DATABASE_UNAVAILABLE', message, {
        headers,
        cause: 'its body was not whole when the server stopped',
      }),
    );
  };

  // One timer for however many pieces.
  readonly #look = (): void => {
    const leftMs = this.#leftMs();
    this.#timer = this.#giveUp !== null && leftMs > 0 ? setTimeout(this.#look, leftMs) : null;
    if (leftMs <= 0) this.#giveUp?.(this.#tooSlow());
  };

  #leftMs(): number {
    return Math.min(this.#since + this.#pace.pauseMs, this.#wholeAt()) - performance.now();
  }

  #wholeAt(): number {
    return this.#begunAt === null ? Number.POSITIVE_INFINITY : this.#begunAt + this.#pace.wholeMs;
  }

  #tooSlow(): ApiError {
    const { pauseMs, wholeMs } = this.#pace;
    const hint = this.#begunAt === null && this.#hint !== '' ? ` ${this.#hint}` : '';
    const message =
      performance.now() < this.#wholeAt()
        ? `No byte of the body has come for ${pauseMs / SECOND_MS} s; send the request again.${hint}`
        : `The body must be whole within ${wholeMs / SECOND_MS} s of its first byte; send less at once, or send it faster.`;
    return new ApiError('BODY_TOO_SLOW', message, { headers: { Connection: 'close' } });
  }
}
