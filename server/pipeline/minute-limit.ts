// Per-minute limits as clients see them: the usage, and when the minute ends.
import {
  type Counters,
  type RateLimitEvent,
  type RateLimitUsage,
  WINDOW_MS,
} from '../../db/counters/counters.ts';
import { ApiError, type LimitName } from '../errors.ts';

const WINDOW_SECONDS = WINDOW_MS / 1_000;

/** What a client sees of a limit. */
export interface RateLimitState {
  readonly limit: number;
  readonly remaining: number;
  /** When the window ends, in Unix seconds. */
  readonly resetSeconds: number;
}

/** The state of a group's limit, or of its member's limit if that is at least as tight. */
export function rateLimitState(
  usage: RateLimitUsage,
  limit: number,
  memberLimit = Number.POSITIVE_INFINITY,
): RateLimitState {
  const resetSeconds = (usage.minute + 1) * WINDOW_SECONDS;
  const remaining = Math.max(0, limit - usage.used);
  const memberRemaining = Math.max(0, memberLimit - usage.memberUsed);
  if (remaining < memberRemaining) return { limit, remaining, resetSeconds };
  return { limit: memberLimit, remaining: memberRemaining, resetSeconds };
}

/** The limit that is reached, by its name and in words. */
export interface ExceededLimit {
  limit: LimitName;
  words: string;
}

/** The 429 for a limit that is reached; it says when to try again, by the clock of the count. */
export function limitExceeded(
  state: RateLimitState,
  { now }: Pick<RateLimitUsage, 'now'>,
  { limit, words }: ExceededLimit,
): ApiError {
  const seconds = Math.max(1, Math.ceil(state.resetSeconds - now / 1_000));
  const headers = { ...limitHeaders(state), 'Retry-After': String(seconds) };
  return new ApiError('RATE_LIMIT_EXCEEDED', `${words}; try again in ${seconds} s.`, { headers, limit });
}

/** The headers that describe a limit. */
export function limitHeaders(state: RateLimitState): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(state.limit),
    'X-RateLimit-Remaining': String(state.remaining),
    'X-RateLimit-Reset': String(state.resetSeconds),
  };
}

/** An event that was counted, with the headers that describe the limit. */
export interface CountedEvent {
  headers: Record<string, string>;
  /** Undoes the count, and returns the updated headers. */
  uncount: () => Promise<Record<string, string>>;
}

/** A separate limit for each name. */
export class MinuteLimit {
  readonly #counters: Counters;
  readonly #what: Exclude<RateLimitEvent['what'], 'requests'>;
  readonly #limit: number;

  /** @param limit events per name and minute */
  constructor(counters: Counters, what: Exclude<RateLimitEvent['what'], 'requests'>, limit: number) {
    this.#counters = counters;
    this.#what = what;
    this.#limit = limit;
  }

  /**
   * Counts an event.
   * @throws ApiError 429 in the given words if the limit is reached
   */
  async count(group: string, words: string): Promise<CountedEvent> {
    const counted = { what: this.#what, group, limit: this.#limit };
    const usage = await this.#counters.count(counted);
    const state = rateLimitState(usage, this.#limit);
    if (!usage.isCounted) throw limitExceeded(state, usage, { limit: this.#what, words });
    const uncount = async () => {
      await this.#counters.giveBack(counted, usage.minute);
      return limitHeaders(rateLimitState(await this.#counters.peek(counted), this.#limit));
    };
    return { headers: limitHeaders(state), uncount };
  }
}
