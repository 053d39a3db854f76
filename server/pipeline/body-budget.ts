// Bytes of bodies under way, an organization's and the server's: what does not fit waits unread, and then comes again.
import type { Access } from '../access.ts';
import { ApiError } from '../errors.ts';
import { IN_FLIGHT_HEADER } from '../quota.ts';

const MEBIBYTE = 1024 * 1024;
/** How long a body waits for its room, in milliseconds. */
const WAIT_MS_MAX = 10_000;
const RETRY_AFTER_SECONDS = 5;

/** Bytes of bodies that one organization may have under way, and that the server holds at once. */
export interface BodyLimits {
  orgBytes: number;
  allBytes: number;
}

/** Unless the operator says otherwise. */
export const BODY_LIMITS: BodyLimits = { orgBytes: 64 * MEBIBYTE, allBytes: 256 * MEBIBYTE };

interface Waiting {
  claim: BodyClaim;
  bytes: number;
  admit: () => void;
}

/** Hands out room for bodies. */
export class BodyBudget {
  readonly #limits: BodyLimits;
  readonly #among: number;
  readonly #orgs = new Map<number, number>();
  readonly #queue = new Set<Waiting>();
  #total = 0;

  /** @param among how many hand out room each for itself, this one its part of it */
  constructor(limits: BodyLimits, among = 1) {
    this.#limits = limits;
    this.#among = among;
  }

  /** A claim without any room yet, for one body of an organization, which may have a quota of its own. */
  open({ orgId, bodyBytesMax }: Pick<Access, 'orgId' | 'bodyBytesMax'>): BodyClaim {
    return new BodyClaim(this, orgId, bodyBytesMax);
  }

  /** Gives a claim more room if there is any; a body that is alone always has it. */
  take(claim: BodyClaim, bytes: number): boolean {
    const { allBytes } = this.#limits;
    const orgBytes = claim.orgBytesMax ?? this.#limits.orgBytes;
    const ofOrg = this.#orgs.get(claim.orgId) ?? 0;
    const fits = (used: number, limit: number) =>
      (used + bytes) * this.#among <= limit || used === claim.bytes;
    if (!fits(ofOrg, orgBytes) || !fits(this.#total, allBytes)) return false;
    this.#change(claim, bytes);
    return true;
  }

  /** Takes the room of a claim back, and gives it to those that wait. */
  give(claim: BodyClaim): void {
    this.#change(claim, -claim.bytes);
    for (const waiting of this.#queue) {
      if (!this.take(waiting.claim, waiting.bytes)) continue;
      this.#queue.delete(waiting);
      waiting.admit();
    }
  }

  /** Waits for room; @throws ApiError 429 once that has taken too long */
  async wait(claim: BodyClaim, bytes: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { claim, bytes, admit: resolve };
    this.#queue.add(waiting);
    const timer = setTimeout(() => {
      this.#queue.delete(waiting);
      reject(tooMuch(claim));
    }, WAIT_MS_MAX);
    await promise.finally(() => clearTimeout(timer));
  }

  /** How much is under way, how much may be, and how many bodies wait for their room. */
  figures(): { bytes: number; bytesMax: number; waiting: number } {
    return { bytes: this.#total, bytesMax: this.#limits.allBytes / this.#among, waiting: this.#queue.size };
  }

  #change(claim: BodyClaim, bytes: number): void {
    const ofOrg = (this.#orgs.get(claim.orgId) ?? 0) + bytes;
    if (ofOrg === 0) this.#orgs.delete(claim.orgId);
    else this.#orgs.set(claim.orgId, ofOrg);
    this.#total += bytes;
    claim.bytes += bytes;
  }
}

/** The room that one body has. */
export class BodyClaim {
  readonly #budget: BodyBudget;
  readonly orgId: number;
  /** The quota of the organization; null where it has none. */
  readonly orgBytesMax: number | null;
  bytes = 0;

  constructor(budget: BodyBudget, orgId: number, orgBytesMax: number | null) {
    this.#budget = budget;
    this.orgId = orgId;
    this.orgBytesMax = orgBytesMax;
  }

  /** Takes room for so many bytes more, at once or when there is; @throws ApiError 429 */
  async grow(bytes: number): Promise<void> {
    if (!this.#budget.take(this, bytes)) await this.#budget.wait(this, bytes);
  }

  /** Gives all of it back. */
  release(): void {
    if (this.bytes > 0) this.#budget.give(this);
  }
}

function tooMuch({ orgBytesMax }: BodyClaim): ApiError {
  const message = `Too many bytes of request bodies are under way; try again in ${RETRY_AFTER_SECONDS} s, with fewer or smaller requests at once.`;
  return new ApiError('RATE_LIMIT_EXCEEDED', message, {
    headers: {
      'Retry-After': String(RETRY_AFTER_SECONDS),
      ...(orgBytesMax !== null && { [IN_FLIGHT_HEADER]: String(orgBytesMax) }),
    },
    limit: 'bodies',
  });
}
