// Room for a response: a small one does not need any, and a large one keeps nothing in memory while it waits for room.

import type { Eventually } from '../../db/engine/engine.ts';
import type { JsonValue } from '../../db/model/json.ts';
import type { Operation } from '../operation.ts';
import { type InFlightBudget, type InFlightClaim, SMALL_BYTES_MAX } from '../quotas/in-flight-budget.ts';
import type { BudgetHolder } from '../quotas/in-flight-counts.ts';

/** Bytes that one UTF-16 unit can take in UTF-8. */
export const UNIT_BYTES_MAX = 3;
/** Bytes that the response to an item or a record has beyond what was sent. */
const ITEM_BYTES = 1024;

/** The room that is available for a response. */
export interface Reservation {
  /** Takes room for exactly this many bytes, if there is any; can be called again with another number. */
  take(bytes: number): boolean;
  /** Takes room for this many bytes, if there is any, until the response is known. */
  widen(bytes: number): void;
  /** Bytes that a response can have without asking. */
  readonly granted: number;
  /** Notes the number of bytes for which room was asked and not available. */
  lack(bytes: number): void;
}

/** Room that another thread holds and granted; that thread learns how much is lacking. */
export class GrantedReservation implements Reservation {
  readonly granted: number;
  /** Bytes for which there was no room; 0 if everything fit. */
  lacking = 0;

  constructor(granted: number) {
    this.granted = granted;
  }

  take(bytes: number): boolean {
    this.lack(bytes <= this.granted ? 0 : bytes);
    return this.lacking === 0;
  }

  widen(): void {
    // The other thread has granted all it can.
  }

  lack(bytes: number): void {
    this.lacking = bytes;
  }
}

/** Bytes of a response body, counted only as exactly as needed. */
export function bytesToSend(body: string): number {
  const most = body.length * UNIT_BYTES_MAX;
  return most <= SMALL_BYTES_MAX ? most : Buffer.byteLength(body);
}

/** Bytes that the response to a write is expected to have, based on the request: most responses repeat it. */
export function expectedBytes({ isWrite }: Operation, bodyBytes: number, body: JsonValue): number {
  if (!isWrite) return 0;
  return bodyBytes + ITEM_BYTES * (Array.isArray(body) ? body.length : 1);
}

/** The room of one response. */
export class ResponseReservation implements Reservation {
  readonly #budget: InFlightBudget;
  readonly #holder: BudgetHolder;
  #claim: InFlightClaim | null = null;
  #lacking = 0;

  constructor(budget: InFlightBudget, holder: BudgetHolder) {
    this.#budget = budget;
    this.#holder = holder;
  }

  get granted(): number {
    return Math.max(SMALL_BYTES_MAX, this.#claim?.bytes ?? 0);
  }

  /** Bytes that the last response has, or lacks, beyond what every response can have. */
  get bytes(): number {
    return Math.max(this.#lacking, this.#claim?.bytes ?? 0);
  }

  /** Whether the last response did not fit. */
  get isLacking(): boolean {
    return this.#lacking > 0;
  }

  /** Whether there is room to give back. */
  get isHeld(): boolean {
    return this.#claim !== null && this.#claim.bytes > 0;
  }

  take(bytes: number): boolean {
    this.#lacking = 0;
    if (bytes <= SMALL_BYTES_MAX) {
      this.#claim?.release();
      return true;
    }
    this.#claim ??= this.#budget.open(this.#holder);
    const more = bytes - this.#claim.bytes;
    if (more <= 0) this.#claim.shrink(bytes);
    else if (!this.#budget.take(this.#claim, more)) this.#lacking = bytes;
    return this.#lacking === 0;
  }

  widen(bytes: number): void {
    if (this.granted >= bytes) return;
    this.take(bytes);
    this.#lacking = 0;
  }

  lack(bytes: number): void {
    this.#lacking = bytes;
  }

  /** Takes room for what did not fit, waiting for it if needed; @throws ApiError 429 */
  wait(): Eventually<void> {
    this.#claim ??= this.#budget.open(this.#holder);
    const more = this.#lacking - this.#claim.bytes;
    this.#lacking = 0;
    if (more > 0) return this.#claim.grow(more);
  }

  /** Gives all room back. */
  release(): void {
    this.#claim?.release();
  }
}
