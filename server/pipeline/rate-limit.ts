// Step 6, rate limit: requests per key and per organization in the epoch-aligned minute, counted together or not at all.
import { type Counted, type Counters, type Usage, WINDOW_MS } from '../../db/counters/counters.ts';
import type { Eventually } from '../../db/engine/engine.ts';
import type { Access } from '../access.ts';
import type { LimitName } from '../errors.ts';
import { limitExceeded, limitHeaders, stateOf, type WindowState } from './minute-limit.ts';

/** Requests per key and minute unless the operator says otherwise. */
export const KEY_LIMIT = 200;
/** Requests per organization and minute unless the operator says otherwise. */
export const ORG_LIMIT = 1_000;

/** How one of the limits stands, over all whom it is for. */
export interface LimitFigures {
  limit: 'key' | 'organization';
  perMinute: number;
  /** The part of it, up to 1, that is used up by whoever has used the most. */
  usedMost: number;
}

export class RateLimiter {
  readonly #counters: Counters;
  readonly #keyLimit: number;
  readonly #orgLimit: number;
  readonly #refusedKeys = new Set<string>();
  // The most that one key, and one organization, has used up of the minute.
  readonly #most = { minute: 0, key: 0, organization: 0 };

  /** @param limits requests per minute and key, and per minute and organization */
  constructor(counters: Counters, limits: { keyLimit: number; orgLimit: number }) {
    this.#counters = counters;
    this.#keyLimit = limits.keyLimit;
    this.#orgLimit = limits.orgLimit;
  }

  /** The headers that describe the tighter limit, without counting. */
  async describe(access: Access): Promise<Record<string, string>> {
    return limitHeaders(this.#stateOf(await this.#counters.look(this.#countedFor(access))));
  }

  /** Counts a request, if both limits have room for it. */
  count(access: Access): Eventually<Usage> {
    return this.#counters.count(this.#countedFor(access));
  }

  /**
   * The headers for the answer to a request that was counted.
   * @throws ApiError 429 if it was not
   */
  admit(access: Access, usage: Usage): Record<string, string> {
    const state = this.#stateOf(usage);
    this.#noteMost(usage);
    if (usage.isCounted) {
      this.#refusedKeys.delete(access.keyId);
      return limitHeaders(state);
    }
    this.#refusedKeys.add(access.keyId);
    const limit: LimitName = usage.memberUsed < this.#keyLimit ? 'organization' : 'key';
    const words = `The limit of ${state.limit} requests a minute is used up`;
    throw limitExceeded(state, usage, { limit, words });
  }

  /** The limits, and what part of them the busiest key and organization have used up by now, in Unix milliseconds. */
  figures(now: number): LimitFigures[] {
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

  #noteMost({ minute, used, memberUsed }: Usage): void {
    const most = this.#most;
    if (most.minute !== minute) Object.assign(most, { minute, key: 0, organization: 0 });
    if (memberUsed > most.key) most.key = memberUsed;
    if (used > most.organization) most.organization = used;
  }

  /** Takes back a request, counted in that minute, that turned out to be free of the limits. */
  async giveBack(access: Access, minute: number | null): Promise<void> {
    if (minute !== null) await this.#counters.giveBack(this.#countedFor(access), minute);
  }

  /** Whether the last request of the key was refused, so that the next one may well be. */
  wasRefused({ keyId }: Access): boolean {
    return this.#refusedKeys.has(keyId);
  }

  #stateOf(usage: Usage): WindowState {
    return stateOf(usage, this.#orgLimit, this.#keyLimit);
  }

  #countedFor({ orgId, keyId }: Access): Counted {
    const member = { name: keyId, limit: this.#keyLimit };
    return { what: 'requests', group: orgId, limit: this.#orgLimit, member };
  }
}
