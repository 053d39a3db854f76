// Requests that are held open until something changes: how many a key and an organization can have.
import { MemorySums } from '../../db/counters/memory-sums.ts';
import type { Access } from '../access.ts';
import { ApiError } from '../errors.ts';

/** Requests that can be held open at the same time, waits and streams together. */
export const HELD_LIMITS = { key: 20, organization: 50 } as const;

const RETRY_AFTER_SECONDS = 5;

// Kinds of sums.
const KEYS = 0;
const ORGANIZATIONS = 1;
const TOTALS = 2;

/** Why a request is held open. */
export type HeldKind = 'wait' | 'stream';

/** Counts the held requests of a process, in all of its threads. */
export class HeldRequests {
  readonly #sums: MemorySums;

  /** @param memory from `allocateSums` that the threads of a process share; private by default */
  constructor(memory?: ArrayBufferLike) {
    this.#sums = new MemorySums(memory);
  }

  /**
   * Takes a place; what it returns gives the place back, whenever it is called first.
   * @throws ApiError 429 if the key or its organization has too many
   */
  hold({ keyId, orgNumber }: Pick<Access, 'keyId' | 'orgNumber'>, kind: HeldKind): () => void {
    const sums = this.#sums;
    const add = (amount: 1 | -1) => {
      sums.add(KEYS, keyId, amount);
      sums.add(ORGANIZATIONS, orgNumber, amount);
      sums.add(TOTALS, kind, amount);
    };
    sums.lock.enter();
    const ofKey = sums.get(KEYS, keyId);
    const isFull =
      sums.isFull ||
      ofKey >= HELD_LIMITS.key ||
      sums.get(ORGANIZATIONS, orgNumber) >= HELD_LIMITS.organization;
    if (!isFull) add(1);
    sums.lock.leave();
    if (isFull) throw tooMany(ofKey >= HELD_LIMITS.key);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      sums.lock.enter();
      add(-1);
      sums.lock.leave();
    };
  }

  /** How many are held in all threads. */
  stats(): Record<HeldKind, number> {
    const sums = this.#sums;
    sums.lock.enter();
    const held = { wait: sums.get(TOTALS, 'wait'), stream: sums.get(TOTALS, 'stream') };
    sums.lock.leave();
    return held;
  }
}

function tooMany(isOfKey: boolean): ApiError {
  const { key, organization } = HELD_LIMITS;
  const who = isOfKey ? `An API key can have ${key}` : `An organization can have ${organization}`;
  const message = `${who} requests at once that wait for changes or stream them; try again in ${RETRY_AFTER_SECONDS} s.`;
  return new ApiError('RATE_LIMIT_EXCEEDED', message, {
    headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
    limit: 'held_requests',
  });
}
