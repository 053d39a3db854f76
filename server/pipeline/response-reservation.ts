// Room for an answer: a small one takes none; of a large one, nothing is kept while it waits for its room.

import type { Eventually } from '../../db/engine/engine.ts';
import type { JsonValue } from '../../db/model/json.ts';
import type { Operation } from '../operation.ts';
import { type InFlightBudget, type InFlightClaim, SMALL_BYTES_MAX } from '../quotas/in-flight-budget.ts';
import type { Holder } from '../quotas/in-flight-counts.ts';

/** What UTF-16 has as one unit can be so many bytes in UTF-8. */
const UNIT_BYTES_MAX = 3;
/** Of an item, or of a record: what its answer has beside what was sent. */
const ITEM_BYTES = 1024;

/** Whether there is room for an answer. */
export interface Room {
  /** Has room for so many bytes, no more and no less, if there is any; it can be asked again, for others. */
  take(bytes: number): boolean;
  /** Takes room for so many bytes as long as the answer is not known, if there is any. */
  widen(bytes: number): void;
  /** Bytes that an answer may have without asking. */
  readonly granted: number;
  /** Notes for how many bytes there was no room where it was asked. */
  lack(bytes: number): void;
}

/** Room that another thread has, which is told what it lacks. */
export class GrantedRoom implements Room {
  readonly granted: number;
  /** For how many bytes there was no room; 0 where there was. */
  lacking = 0;

  constructor(granted: number) {
    this.granted = granted;
  }

  take(bytes: number): boolean {
    this.lack(bytes <= this.granted ? 0 : bytes);
    return this.lacking === 0;
  }

  widen(): void {
    // It has all that there is.
  }

  lack(bytes: number): void {
    this.lacking = bytes;
  }
}

/** Bytes of an answer's body; no fewer where that makes no difference. */
export function bytesToSend(body: string): number {
  const most = body.length * UNIT_BYTES_MAX;
  return most <= SMALL_BYTES_MAX ? most : Buffer.byteLength(body);
}

/** What the answer to a write may have, by what was sent: most show that and little more. */
export function expectedBytes({ isWrite }: Operation, bodyBytes: number, body: JsonValue): number {
  if (!isWrite) return 0;
  return bodyBytes + ITEM_BYTES * (Array.isArray(body) ? body.length : 1);
}

/** The room of one answer. */
export class AnswerRoom implements Room {
  readonly #budget: InFlightBudget;
  readonly #holder: Holder;
  #claim: InFlightClaim | null = null;
  #lacking = 0;

  constructor(budget: InFlightBudget, holder: Holder) {
    this.#budget = budget;
    this.#holder = holder;
  }

  get granted(): number {
    return Math.max(SMALL_BYTES_MAX, this.#claim?.bytes ?? 0);
  }

  /** Bytes that the last answer has, or lacks, beside what any may have. */
  get bytes(): number {
    return Math.max(this.#lacking, this.#claim?.bytes ?? 0);
  }

  /** Whether the last answer did not fit. */
  get isLacking(): boolean {
    return this.#lacking > 0;
  }

  /** Whether there is anything to be given back. */
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

  /** Has room for what did not fit, at once or when there is; @throws ApiError 429 */
  wait(): Eventually<void> {
    this.#claim ??= this.#budget.open(this.#holder);
    const more = this.#lacking - this.#claim.bytes;
    this.#lacking = 0;
    if (more > 0) return this.#claim.grow(more);
  }

  /** Gives all of it back. */
  release(): void {
    this.#claim?.release();
  }
}
