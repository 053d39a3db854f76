// Counters over the epoch-aligned minutes.
import { ApiError } from '../errors.ts';

export const WINDOW_MS = 60_000;

/** What a limit looks like to its client. */
export interface WindowState {
  limit: number;
  remaining: number;
  /** Unix seconds at which the window ends. */
  resetSeconds: number;
}

/** Counts events per name and minute; forgets a minute once it is over. */
export class FixedWindow<Name = string> {
  readonly limit: number;
  #minute = -1;
  #counts = new Map<Name, number>();

  /** @param limit events per minute */
  constructor(limit: number) {
    this.limit = limit;
  }

  /** Where a name stands, without counting. `now` is in Unix milliseconds. */
  peek(name: Name, now: number): WindowState {
    const used = this.#current(now).get(name) ?? 0;
    const resetSeconds = (this.#minute + 1) * (WINDOW_MS / 1_000);
    return { limit: this.limit, remaining: Math.max(0, this.limit - used), resetSeconds };
  }

  /** Counts one event. */
  count(name: Name, now: number): void {
    const counts = this.#current(now);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }

  #current(now: number): Map<Name, number> {
    const minute = Math.floor(now / WINDOW_MS);
    // A request that began in the last minute must not bring it back; a clock that was set back must.
    if (minute > this.#minute || minute < this.#minute - 1) {
      this.#minute = minute;
      this.#counts = new Map();
    }
    return this.#counts;
  }
}

/** The 429 for a limit that is used up: `what` is, and when to try again. `now` is in Unix milliseconds. */
export function limitExceeded(state: WindowState, now: number, what: string): ApiError {
  const seconds = Math.max(1, Math.ceil(state.resetSeconds - now / 1_000));
  const headers = { ...limitHeaders(state), 'Retry-After': String(seconds) };
  return new ApiError('RATE_LIMIT_EXCEEDED', `${what}; try again in ${seconds} s.`, { headers });
}

/** The headers that describe a limit. */
export function limitHeaders(state: WindowState): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(state.limit),
    'X-RateLimit-Remaining': String(state.remaining),
    'X-RateLimit-Reset': String(state.resetSeconds),
  };
}
