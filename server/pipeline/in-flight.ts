// Bytes under way: what does not fit into the budget of its key, its organization or the server waits for room.
import type { Eventually } from '../../db/engine.ts';
import { ApiError, type LimitName } from '../errors.ts';
import { IN_FLIGHT_HEADER } from '../quota.ts';
import { type Holder, Lane } from './lane.ts';

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;
/** What is no larger has a budget of its own, and so does not wait behind what is. */
export const SMALL_BYTES_MAX = 64 * KIBIBYTE;
/** That budget: so much of an organization's, and at most so many bytes. */
const SMALL_PART = 1 / 8;
const SMALL_ORG_BYTES_MAX = 8 * MEBIBYTE;
/** How long a claim waits for room, in milliseconds. */
const WAIT_MS_MAX = 10_000;
const RETRY_AFTER_SECONDS = 5;

/** Bytes that one organization may have under way, and that the server holds at once. */
export interface InFlightLimits {
  orgBytes: number;
  allBytes: number;
}

/** Unless the operator says otherwise. */
export const IN_FLIGHT_LIMITS: InFlightLimits = { orgBytes: 64 * MEBIBYTE, allBytes: 256 * MEBIBYTE };

export interface InFlightOptions {
  limits: InFlightLimits;
  /** How many hand out room each for itself, this one its part of it; one unless given. */
  among?: number;
  /** How long a claim waits for room, in milliseconds. */
  waitMs?: number;
  /** The limit that a claim without room is refused by. */
  limit: LimitName;
  /** What there is too much of then, as a plural. */
  subject: string;
  /** Whether what is small takes no room, and so has no budget of its own. */
  isSmallFree?: boolean;
}

interface Waiting {
  line: string;
  claim: InFlightClaim;
  bytes: number;
  admit: () => void;
}

/** Hands out room for the bytes of request bodies, or of answers. */
export class InFlightBudget {
  readonly #options: InFlightOptions;
  readonly #small: Lane;
  readonly #large: Lane;
  /** Those that wait, in lines: in each the first that came is let in first. */
  readonly #lines = new Map<string, Set<Waiting>>();
  #waiting = 0;

  constructor(options: InFlightOptions) {
    this.#options = options;
    const { among = 1, limits, isSmallFree = false } = options;
    const smallPart = isSmallFree ? 0 : SMALL_PART;
    const orgBytes = ({ bodyBytesMax }: Holder) => bodyBytesMax ?? limits.orgBytes;
    this.#large = new Lane({
      orgBytes: (holder) => orgBytes(holder) / among,
      allBytes: limits.allBytes / among,
      takesOneAlone: true,
    });
    this.#small = new Lane({
      orgBytes: (holder) => Math.min(orgBytes(holder) * smallPart, SMALL_ORG_BYTES_MAX) / among,
      allBytes: (limits.allBytes * smallPart) / among,
      takesOneAlone: false,
    });
  }

  /** A claim without any room yet. */
  open(holder: Holder): InFlightClaim {
    return new InFlightClaim(this, holder);
  }

  /** Gives a claim room for so many bytes more, if there is any; what is alone always has it. */
  take(claim: InFlightClaim, bytes: number): boolean {
    const { holder, lane: from } = claim;
    const to = this.#laneWithRoom(claim, bytes);
    if (to === null) return false;
    if (from !== null && from !== to) {
      from.change(holder, -claim.bytes);
      to.change(holder, claim.bytes);
    }
    to.change(holder, bytes);
    claim.bytes += bytes;
    claim.lane = to;
    return true;
  }

  /** Takes so many bytes of a claim back, and gives them to those that wait. */
  give(claim: InFlightClaim, bytes: number): void {
    claim.lane?.change(claim.holder, -bytes);
    claim.bytes -= bytes;
    if (claim.bytes === 0) claim.lane = null;
    if (this.#waiting > 0) this.#letIn();
  }

  /** Waits for room; @throws ApiError 429 once that has taken too long */
  async wait(claim: InFlightClaim, bytes: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { line: lineOf(claim, bytes), claim, bytes, admit: resolve };
    this.#enter(waiting);
    const timer = setTimeout(() => {
      this.#leave(waiting);
      reject(this.#tooMuch(claim.holder));
    }, this.#options.waitMs ?? WAIT_MS_MAX);
    await promise.finally(() => clearTimeout(timer));
  }

  /** How much is under way, how much may be, and how many claims wait for their room. */
  figures(): { bytes: number; bytesMax: number; waiting: number } {
    const [small, large] = [this.#small, this.#large];
    return {
      bytes: small.bytes + large.bytes,
      bytesMax: small.bytesMax + large.bytesMax,
      waiting: this.#waiting,
    };
  }

  #laneWithRoom({ holder, lane, bytes: held }: InFlightClaim, bytes: number): Lane | null {
    const isSmall = lane !== this.#large && held + bytes <= SMALL_BYTES_MAX;
    if (isSmall && this.#small.hasRoom(holder, bytes, held)) return this.#small;
    const hasRoom =
      lane === this.#large
        ? this.#large.hasRoom(holder, bytes, held)
        : this.#large.hasRoom(holder, held + bytes, 0);
    return hasRoom ? this.#large : null;
  }

  // However many of a key wait, only the first of each of its lines is looked at.
  #letIn(): void {
    for (const line of this.#lines.values()) {
      for (const waiting of line) {
        if (!this.take(waiting.claim, waiting.bytes)) break;
        this.#leave(waiting);
        waiting.admit();
      }
    }
  }

  #enter(waiting: Waiting): void {
    const line = this.#lines.get(waiting.line);
    if (line === undefined) this.#lines.set(waiting.line, new Set([waiting]));
    else line.add(waiting);
    this.#waiting += 1;
  }

  #leave(waiting: Waiting): void {
    const line = this.#lines.get(waiting.line);
    if (line?.delete(waiting) !== true) return;
    if (line.size === 0) this.#lines.delete(waiting.line);
    this.#waiting -= 1;
  }

  #tooMuch({ bodyBytesMax }: Holder): ApiError {
    const { subject, limit } = this.#options;
    const message = `Too many bytes of ${subject} are under way; try again in ${RETRY_AFTER_SECONDS} s, with fewer or smaller requests at once.`;
    return new ApiError('RATE_LIMIT_EXCEEDED', message, {
      headers: {
        'Retry-After': String(RETRY_AFTER_SECONDS),
        ...(bodyBytesMax !== null && { [IN_FLIGHT_HEADER]: String(bodyBytesMax) }),
      },
      limit,
    });
  }
}

// What is small does not wait for what is large, nor what needs a little more for what has nothing yet.
function lineOf({ holder, bytes: held }: InFlightClaim, bytes: number): string {
  const kind = held > 0 ? 'more' : bytes <= SMALL_BYTES_MAX ? 'small' : 'large';
  return `${kind} ${holder.keyId}`;
}

/** The room that one body or answer has. */
export class InFlightClaim {
  readonly #budget: InFlightBudget;
  readonly holder: Holder;
  bytes = 0;
  /** Where its room is, once it has any. */
  lane: Lane | null = null;

  constructor(budget: InFlightBudget, holder: Holder) {
    this.#budget = budget;
    this.holder = holder;
  }

  /** Takes room for so many bytes more, at once or when there is; @throws ApiError 429 */
  grow(bytes: number): Eventually<void> {
    if (!this.#budget.take(this, bytes)) return this.#budget.wait(this, bytes);
  }

  /** Keeps room for so many bytes, and gives back what it has beyond that. */
  shrink(toBytes: number): void {
    if (this.bytes > toBytes) this.#budget.give(this, this.bytes - toBytes);
  }

  /** Gives all of it back. */
  release(): void {
    this.shrink(0);
  }
}
