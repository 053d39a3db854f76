// Bytes in flight: what does not fit into the budget of its key, its organization or the server waits for room.

import { MemorySums } from '../../db/counters/memory-sums.ts';
import type { Eventually } from '../../db/engine/engine.ts';
import { ApiError, type LimitName } from '../errors.ts';
import { type BudgetHolder, IN_FLIGHT_KINDS, InFlightCounts } from './in-flight-counts.ts';
import { ClaimQueues } from './in-flight-queues.ts';
import { IN_FLIGHT_HEADER } from './quota-errors.ts';

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;
/** Up to this size, bytes have a separate budget and do not wait behind larger ones. */
export const SMALL_BYTES_MAX = 64 * KIBIBYTE;
/** That budget: a fraction of the organization's, up to a maximum in bytes. */
const SMALL_PART = 1 / 8;
const SMALL_ORG_BYTES_MAX = 8 * MEBIBYTE;
/** How long a claim waits for room, in milliseconds. */
const WAIT_MS_MAX = 10_000;
const RETRY_AFTER_SECONDS = 5;

/** Bytes that one organization, and the whole server, can have in flight. */
export interface InFlightLimits {
  orgBytes: number;
  allBytes: number;
}

/** The default limits. */
export const IN_FLIGHT_LIMITS: InFlightLimits = { orgBytes: 64 * MEBIBYTE, allBytes: 256 * MEBIBYTE };

export interface InFlightOptions {
  limits: InFlightLimits;
  /** Memory from `allocateSums` that the threads of a process share; private by default. */
  memory?: ArrayBufferLike | undefined;
  /** How long a claim waits for room, in milliseconds. */
  waitMs?: number;
  /** The limit that a claim without room is rejected by. */
  limit: LimitName;
  /** What there is too much of, as a plural for the error message. */
  subject: string;
  /** Whether small responses need no room, so that there is no separate budget for them. */
  isSmallFree?: boolean;
}

// Kinds of sums in the shared memory.
const SMALL = 0;
const LARGE = IN_FLIGHT_KINDS;
const LINES = 2 * IN_FLIGHT_KINDS;

/** Grants room for the bytes of request bodies or of responses. */
export class InFlightBudget {
  readonly #options: InFlightOptions;
  readonly #sums: MemorySums;
  readonly #small: InFlightCounts;
  readonly #large: InFlightCounts;
  readonly #lines: ClaimQueues;

  constructor(options: InFlightOptions) {
    this.#options = options;
    const { limits, memory, isSmallFree = false } = options;
    const sums = new MemorySums(memory);
    this.#sums = sums;
    this.#lines = new ClaimQueues(sums, LINES);
    const smallPart = isSmallFree ? 0 : SMALL_PART;
    const orgBytes = ({ bodyBytesMax }: BudgetHolder) => bodyBytesMax ?? limits.orgBytes;
    this.#large = new InFlightCounts({
      ...{ sums, kind: LARGE },
      orgBytes,
      allBytes: limits.allBytes,
      takesOneAlone: true,
    });
    this.#small = new InFlightCounts({
      ...{ sums, kind: SMALL },
      orgBytes: (holder) => Math.min(orgBytes(holder) * smallPart, SMALL_ORG_BYTES_MAX),
      allBytes: limits.allBytes * smallPart,
      takesOneAlone: false,
    });
  }

  /** A claim without room. */
  open(holder: BudgetHolder): InFlightClaim {
    return new InFlightClaim(this, holder);
  }

  /** Adds room for this many bytes to a claim, if there is any; a claim that is alone always gets it. */
  take(claim: InFlightClaim, bytes: number): boolean {
    this.#sums.lock.enter();
    const { holder, lane: from } = claim;
    const to = this.#laneWithRoom(claim, bytes);
    if (to !== null) {
      if (from !== null && from !== to) {
        from.change(holder, -claim.bytes);
        to.change(holder, claim.bytes);
      }
      to.change(holder, bytes);
      claim.bytes += bytes;
      claim.lane = to;
    }
    this.#sums.lock.leave();
    return to !== null;
  }

  /** Takes bytes back from a claim and grants them to those that wait. */
  give(claim: InFlightClaim, bytes: number): void {
    this.#sums.lock.enter();
    claim.lane?.change(claim.holder, -bytes);
    this.#sums.lock.leave();
    claim.bytes -= bytes;
    if (claim.bytes === 0) claim.lane = null;
    this.#lines.roomGivenBack();
  }

  /** Waits for room; @throws ApiError 429 if it takes too long */
  async wait(claim: InFlightClaim, bytes: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const tryToEnter = () => {
      if (!this.take(claim, bytes)) return false;
      resolve();
      return true;
    };
    const waiting = { line: lineOf(claim, bytes), tryToEnter };
    this.#lines.enter(waiting);
    const timer = setTimeout(() => {
      this.#lines.leave(waiting);
      reject(this.#tooMuch(claim.holder));
    }, this.#options.waitMs ?? WAIT_MS_MAX);
    await promise.finally(() => clearTimeout(timer));
  }

  /** Bytes in flight in all threads, their maximum, and the number of claims waiting in this thread. */
  stats(): { bytes: number; bytesMax: number; waiting: number } {
    const [small, large] = [this.#small, this.#large];
    this.#sums.lock.enter();
    const bytes = small.bytes + large.bytes;
    this.#sums.lock.leave();
    return { bytes, bytesMax: small.bytesMax + large.bytesMax, waiting: this.#lines.size };
  }

  #laneWithRoom({ holder, lane, bytes: held }: InFlightClaim, bytes: number): InFlightCounts | null {
    const isSmall = lane !== this.#large && held + bytes <= SMALL_BYTES_MAX;
    if (isSmall && this.#small.hasRoom(holder, bytes, held)) return this.#small;
    const hasRoom =
      lane === this.#large
        ? this.#large.hasRoom(holder, bytes, held)
        : this.#large.hasRoom(holder, held + bytes, 0);
    return hasRoom ? this.#large : null;
  }

  #tooMuch({ bodyBytesMax }: BudgetHolder): ApiError {
    const { subject, limit } = this.#options;
    const message = `Too many bytes of ${subject} are in progress; try again in ${RETRY_AFTER_SECONDS} s, with fewer or smaller requests at once.`;
    return new ApiError('RATE_LIMIT_EXCEEDED', message, {
      headers: {
        'Retry-After': String(RETRY_AFTER_SECONDS),
        ...(bodyBytesMax !== null && { [IN_FLIGHT_HEADER]: String(bodyBytesMax) }),
      },
      limit,
    });
  }
}

// Small claims do not wait for large ones, and claims that need a little more do not wait for new ones.
function lineOf({ holder, bytes: held }: InFlightClaim, bytes: number): string {
  const kind = held > 0 ? 'more' : bytes <= SMALL_BYTES_MAX ? 'small' : 'large';
  return `${kind} ${holder.keyId}`;
}

/** The room that one body or response has. */
export class InFlightClaim {
  readonly #budget: InFlightBudget;
  readonly holder: BudgetHolder;
  bytes = 0;
  /** Where its room is counted, once it has any. */
  lane: InFlightCounts | null = null;

  constructor(budget: InFlightBudget, holder: BudgetHolder) {
    this.#budget = budget;
    this.holder = holder;
  }

  /** Takes room for this many more bytes, waiting for it if needed; @throws ApiError 429 */
  grow(bytes: number): Eventually<void> {
    if (!this.#budget.take(this, bytes)) return this.#budget.wait(this, bytes);
  }

  /** Keeps room for this many bytes and gives back the rest. */
  shrink(toBytes: number): void {
    if (this.bytes > toBytes) this.#budget.give(this, this.bytes - toBytes);
  }

  /** Gives all room back. */
  release(): void {
    this.shrink(0);
  }
}
