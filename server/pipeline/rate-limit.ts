// Step 6, rate limit: requests per key and per organization in the epoch-aligned minute, counted together or not at all.
import type { Access } from '../access.ts';
import { FixedWindow, limitExceeded, limitHeaders, type Tally } from './window.ts';

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
    return limitHeaders(
      tighter(this.#keys.tallyOf(access.keyId, now), this.#orgs.tallyOf(access.orgId, now)),
    );
  }

  /**
   * Counts a request and gives the headers for its answer.
   * @throws ApiError 429 if either limit is used up; then nothing is counted
   */
  admit(access: Access, now: number): Record<string, string> {
    const key = this.#keys.tallyOf(access.keyId, now);
    const org = this.#orgs.tallyOf(access.orgId, now);
    const state = tighter(key, org);
    if (state.remaining === 0)
      throw limitExceeded(state, now, `The limit of ${state.limit} requests a minute is used up`);
    key.count();
    org.count();
    return limitHeaders(tighter(key, org));
  }
}

function tighter(key: Tally, org: Tally): Tally {
  return org.remaining < key.remaining ? org : key;
}
