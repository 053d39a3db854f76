// How far a pass over the log has come: what was read of it, and the place up to which nothing has to be read again.
import type { DeliveryQueue, QueuedChange } from './delivery-queue.ts';

// Beyond that, even changes that are being sent are stored, so that the place does not stay behind because of a slow one.
const OPEN_MAX = 200;

/** The first pass of a webhook (0), or a replay. */
export class PassProgress {
  readonly pass: number;
  /** With which it ends; null for the first pass. */
  readonly last: number | null;
  /** Up to this sequence number, the log was read. */
  cursor: number;
  /** The place that is stored. */
  #place: number;
  // Read after the place and not stored, in order.
  #open: QueuedChange[] = [];

  constructor({ pass, place, last }: { pass: number; place: number; last: number | null }) {
    this.pass = pass;
    this.last = last;
    this.cursor = place;
    this.#place = place;
  }

  get place(): number {
    return this.#place;
  }

  /** Whether a replay has nothing left to read or store. */
  get isOver(): boolean {
    return this.last !== null && this.#place >= this.last;
  }

  /** Notes a change that was read. */
  open(change: QueuedChange): void {
    this.#open.push(change);
  }

  /**
   * How far the place can move, and which changes must be stored for that.
   * @param isEnd whether nothing is sent after that: then what is not sent is stored instead of being read again, so that
   * what follows it is not sent twice
   */
  plan(queue: DeliveryQueue, isEnd = false): { place: number; stored: QueuedChange[] } {
    const stored: QueuedChange[] = [];
    let isStoringAll = isEnd;
    for (const [index, change] of this.#open.entries()) {
      if (change.isDone) continue;
      const isWaiting = !change.isSending && (change.attempt > 0 || queue.isBehindFailure(change));
      isStoringAll ||= !isWaiting && this.#open.length - index > OPEN_MAX;
      if (!isWaiting && !isStoringAll) return { place: change.sequence - 1, stored };
      stored.push(change);
    }
    return { place: this.cursor, stored };
  }

  /** Notes a place that was stored. */
  moveTo(place: number): void {
    this.#place = place;
    const first = this.#open.findIndex(({ sequence }) => sequence > place);
    this.#open = first === -1 ? [] : this.#open.slice(first);
  }

  /** Continues at an earlier place, without what was read after it. */
  returnTo(place: number): void {
    this.cursor = place;
    this.#open = this.#open.filter(({ sequence }) => sequence <= place);
  }

  /** Continues at another place, without what was read. */
  jumpTo(place: number): void {
    this.cursor = place;
    this.#open = [];
  }
}
