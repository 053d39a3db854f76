// Counters over the epoch-aligned minutes.
import { ApiError } from '../errors.ts';

export const WINDOW_MS = 60_000;

/** What a limit looks like to its client. */
export interface WindowState {
  readonly limit: number;
  readonly remaining: number;
  /** Unix seconds at which the window ends. */
  readonly resetSeconds: number;
}

/** How often something happened in a minute. */
export class Tally implements WindowState {
  #used = 0;

  constructor(
    readonly limit: number,
    readonly resetSeconds: number,
  ) {}

  get remaining(): number {
    return Math.max(0, this.limit - this.#used);
  }

  /** Counts one event. */
  count(): void {
    this.#used += 1;
  }
}

/** Counts events per name and minute; forgets a minute once it is over. */
export class FixedWindow<Name = string> {
  readonly #limit: number;
  #minute = -1;
  #tallies = new Map<Name, Tally>();

  /** @param limit events per minute */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Where a name stands in the minute of `now`, Unix milliseconds. */
  tallyOf(name: Name, now: number): Tally {
    const minute = Math.floor(now / WINDOW_MS);
    // A request that began in the last minute must not bring it back; a clock that was set back must.
    if (minute > this.#minute || minute < this.#minute - 1) {
      this.#minute = minute;
      this.#tallies = new Map();
    }
    let tally = this.#tallies.get(name);
    if (tally === undefined) {
      tally = new Tally(this.#limit, (this.#minute + 1) * (WINDOW_MS / 1_000));
      this.#tallies.set(name, tally);
    }
    return tally;
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
