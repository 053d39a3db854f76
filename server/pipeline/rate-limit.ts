// Step 6, rate limit: requests per key and per organization in the epoch-aligned minute, counted together or not at all.
import type { Access } from '../access.ts';
import { FixedWindow, limitExceeded, limitHeaders, type WindowState } from './window.ts';

/** Requests per key and minute unless the operator says otherwise. */
export const KEY_LIMIT = 200;
/** Requests per organization and minute unless the operator says otherwise. */
export const ORG_LIMIT = 1_000;

export class RateLimiter {
  readonly #keys: FixedWindow;
  readonly #orgs: FixedWindow<number>;

  /** @param keyLimit requests per minute and key @param orgLimit requests per minute and organization */
  constructor(keyLimit: number, orgLimit: number) {
    this.#keys = new FixedWindow(keyLimit);
    this.#orgs = new FixedWindow(orgLimit);
  }

  /** The headers that describe the tighter limit, without counting. `now` is in Unix milliseconds. */
  describe(access: Access, now: number): Record<string, string> {
    return limitHeaders(this.#tighter(access, now));
  }

  /**
   * Counts a request and gives the headers for its answer.
   * @throws ApiError 429 if either limit is used up; then nothing is counted
   */
  admit(access: Access, now: number): Record<string, string> {
    const state = this.#tighter(access, now);
    if (state.remaining === 0)
      throw limitExceeded(state, now, `The limit of ${state.limit} requests a minute is used up`);
    this.#keys.count(access.keyId, now);
    this.#orgs.count(access.orgId, now);
    return this.describe(access, now);
  }

  #tighter(access: Access, now: number): WindowState {
    const key = this.#keys.peek(access.keyId, now);
    const org = this.#orgs.peek(access.orgId, now);
    return org.remaining < key.remaining ? org : key;
  }
}
