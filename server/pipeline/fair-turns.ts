// Limits an organization to one large response per turn of the event loop, so that others are served in between.
import { nextTurn } from '../../db/event-loop.ts';

/** Smaller responses take a few milliseconds at most. */
const LARGE_BYTES_MIN = 256 * 1024;

export class FairTurns {
  /** Organizations whose large response of this turn was made. */
  readonly #spent = new Set<number>();

  /** Whether an organization has used its turn, so that `turn` must be awaited. */
  isSpent(orgNumber: number): boolean {
    return this.#spent.size > 0 && this.#spent.has(orgNumber);
  }

  /** Waits for the organization's next turn. */
  async turn(orgNumber: number): Promise<void> {
    while (this.isSpent(orgNumber)) await nextTurn();
  }

  /** Notes a response of this many bytes, sent or not. */
  spend(orgNumber: number, bytes: number): void {
    if (bytes < LARGE_BYTES_MIN) return;
    if (this.#spent.size === 0) setImmediate(() => this.#spent.clear());
    this.#spent.add(orgNumber);
  }
}
