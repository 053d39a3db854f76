// Step 6, rate limit: requests per key and per organization in each clock minute, counted together or not at all.
import {
  type Counters,
  type RateLimitEvent,
  type RateLimitUsage,
  WINDOW_MS,
} from '../../db/counters/counters.ts';
import type { Eventually } from '../../db/engine/engine.ts';
import type { Access } from '../access.ts';
import type { LimitName } from '../errors.ts';
import { limitExceeded, limitHeaders, type RateLimitState, rateLimitState } from './minute-limit.ts';

/** Default requests per key and minute. */
export const KEY_LIMIT = 200;
/** Default requests per organization and minute. */
export const ORG_LIMIT = 1_000;

/** The usage of one of the limits across all keys or organizations. */
export interface LimitStats {
  limit: 'key' | 'organization';
  perMinute: number;
  /** The largest fraction, up to 1, that one of them has used. */
  usedMost: number;
}

export class RateLimiter {
  readonly #counters: Counters;
  readonly #keyLimit: number;
  readonly #orgLimit: number;
  readonly #refusedKeys = new Set<string>();
  // The largest usage of one key and of one organization in the minute.
  readonly #most = { minute: 0, key: 0, organization: 0 };

  /** @param limits requests per minute and key, and per minute and organization */
  constructor(counters: Counters, limits: { keyLimit: number; orgLimit: number }) {
    this.#counters = counters;
    this.#keyLimit = limits.keyLimit;
    this.#orgLimit = limits.orgLimit;
  }

  /** The headers that describe the tighter limit, without counting. */
  async describe(access: Access): Promise<Record<string, string>> {
    return limitHeaders(this.#stateOf(await this.#counters.peek(this.#countedFor(access))));
  }

  /** Counts a request if both limits have room for it. */
  count(access: Access): Eventually<RateLimitUsage> {
    return this.#counters.count(this.#countedFor(access));
  }

  /**
   * The headers for the response to a counted request.
   * @throws ApiError 429 if it was not counted
   */
  admit(access: Access, usage: RateLimitUsage): Record<string, string> {
    const state = this.#stateOf(usage);
    this.#noteMost(usage);
    if (usage.isCounted) {
      this.#refusedKeys.delete(access.keyId);
      return limitHeaders(state);
    }
    this.#refusedKeys.add(access.keyId);
    const limit: LimitName = usage.memberUsed < this.#keyLimit ? 'organization' : 'key';
    const words = `The limit of ${state.limit} requests per minute is reached`;
    throw limitExceeded(state, usage, { limit, words });
  }

  /** The limits, with the fractions used by the busiest key and organization at `now` (Unix milliseconds). */
  stats(now: number): LimitStats[] {
    const { minute, key, organization } = this.#most;
    const isOver = minute !== Math.floor(now / WINDOW_MS);
    return [
      { limit: 'key', perMinute: this.#keyLimit, usedMost: isOver ? 0 : key / this.#keyLimit },
      {
        limit: 'organization',
        perMinute: this.#orgLimit,
        usedMost: isOver ? 0 : organization / this.#orgLimit,
      },
    ];
  }

  #noteMost({ minute, used, memberUsed }: RateLimitUsage): void {
    const most = this.#most;
    if (most.minute !== minute) Object.assign(most, { minute, key: 0, organization: 0 });
    if (memberUsed > most.key) most.key = memberUsed;
    if (used > most.organization) most.organization = used;
  }

  /** Undoes the count of a request, made in that minute, that turned out to be free of the limits. */
  async giveBack(access: Access, minute: number | null): Promise<void> {
    if (minute !== null) await this.#counters.giveBack(this.#countedFor(access), minute);
  }

  /** Whether the last request of the key was rejected, so that the next one is likely to be. */
  wasRefused({ keyId }: Access): boolean {
    return this.#refusedKeys.has(keyId);
  }

  #stateOf(usage: RateLimitUsage): RateLimitState {
    return rateLimitState(usage, this.#orgLimit, this.#keyLimit);
  }

  #countedFor({ orgNumber, keyId }: Access): RateLimitEvent {
    const member = { name: keyId, limit: this.#keyLimit };
    return { what: 'requests', group: orgNumber, limit: this.#orgLimit, member };
  }
}
