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

/** Requests per minute of a key, and of an organization. */
export interface RequestLimits {
  keyLimit: number;
  orgLimit: number;
}

/** The limits that hold for a key: those set for it and for its organization, otherwise those of the server. */
export function limitsFor(
  { requestsPerMinute: { key, organization } }: Pick<Access, 'requestsPerMinute'>,
  server: RequestLimits,
): RequestLimits {
  return { keyLimit: key ?? server.keyLimit, orgLimit: organization ?? server.orgLimit };
}

/** The usage of one of the limits across all keys or organizations. */
export interface LimitStats {
  limit: 'key' | 'organization';
  /** The limit of those that have none of their own. */
  perMinute: number;
  /** The largest fraction, up to 1, that one of them has used. */
  usedMost: number;
}

export class RateLimiter {
  readonly #counters: Counters;
  readonly #limits: RequestLimits;
  readonly #refusedKeys = new Set<string>();
  // The largest fractions that one key and one organization have used in the minute.
  readonly #most = { minute: 0, key: 0, organization: 0 };

  /** @param limits of keys and organizations that have none of their own */
  constructor(counters: Counters, limits: RequestLimits) {
    this.#counters = counters;
    this.#limits = limits;
  }

  /** The headers that describe the tighter limit, without counting. */
  async describe(access: Access): Promise<Record<string, string>> {
    const usage = await this.#counters.peek(this.#countedFor(access));
    return limitHeaders(stateOf(usage, limitsFor(access, this.#limits)));
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
    const limits = limitsFor(access, this.#limits);
    const state = stateOf(usage, limits);
    this.#noteMost(usage, limits);
    if (usage.isCounted) {
      this.#refusedKeys.delete(access.keyId);
      return limitHeaders(state);
    }
    this.#refusedKeys.add(access.keyId);
    const limit: LimitName = usage.memberUsed < limits.keyLimit ? 'organization' : 'key';
    const requests = state.limit === 1 ? 'request' : 'requests';
    const words = `The limit of ${state.limit} ${requests} per minute is reached`;
    throw limitExceeded(state, usage, { limit, words });
  }

  /** The limits, with the fractions used by the busiest key and organization at `now` (Unix milliseconds). */
  stats(now: number): LimitStats[] {
    const { minute, key, organization } = this.#most;
    const isOver = minute !== Math.floor(now / WINDOW_MS);
    const { keyLimit, orgLimit } = this.#limits;
    return [
      { limit: 'key', perMinute: keyLimit, usedMost: isOver ? 0 : key },
      { limit: 'organization', perMinute: orgLimit, usedMost: isOver ? 0 : organization },
    ];
  }

  #noteMost({ minute, used, memberUsed }: RateLimitUsage, { keyLimit, orgLimit }: RequestLimits): void {
    const most = this.#most;
    if (most.minute !== minute) Object.assign(most, { minute, key: 0, organization: 0 });
    most.key = Math.max(most.key, fraction(memberUsed, keyLimit));
    most.organization = Math.max(most.organization, fraction(used, orgLimit));
  }

  /** Undoes the count of a request, made in that minute, that turned out to be free of the limits. */
  async giveBack(access: Access, minute: number | null): Promise<void> {
    if (minute !== null) await this.#counters.giveBack(this.#countedFor(access), minute);
  }

  /** Whether the last request of the key was rejected, so that the next one is likely to be. */
  wasRefused({ keyId }: Access): boolean {
    return this.#refusedKeys.has(keyId);
  }

  #countedFor(access: Access): RateLimitEvent {
    const { keyLimit, orgLimit } = limitsFor(access, this.#limits);
    const member = { name: access.keyId, limit: keyLimit };
    return { what: 'requests', group: access.orgNumber, limit: orgLimit, member };
  }
}

// A limit that was lowered in the minute can be exceeded.
function fraction(used: number, limit: number): number {
  return Math.min(1, used / Math.max(1, limit));
}

function stateOf(usage: RateLimitUsage, { keyLimit, orgLimit }: RequestLimits): RateLimitState {
  return rateLimitState(usage, orgLimit, keyLimit);
}
