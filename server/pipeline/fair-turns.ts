// Large answers of one organization, one in each turn of the event loop, so that the others are served in between.
import { nextTurn } from '../../db/event-loop.ts';

/** What is smaller takes a few milliseconds at most. */
const LARGE_BYTES_MIN = 256 * 1024;

export class Pace {
  /** Organizations that have had a large answer made in this turn. */
  readonly #spent = new Set<number>();

  /** Whether an organization has had its large answer of this turn, and `turn` has to be waited for. */
  isSpent(orgId: number): boolean {
    return this.#spent.size > 0 && this.#spent.has(orgId);
  }

  /** Waits until it is the turn of another answer of the organization. */
  async turn(orgId: number): Promise<void> {
    while (this.isSpent(orgId)) await nextTurn();
  }

  /** Takes note of an answer of so many bytes that was made, whether it is sent or not. */
  spend(orgId: number, bytes: number): void {
    if (bytes < LARGE_BYTES_MIN) return;
    if (this.#spent.size === 0) setImmediate(() => this.#spent.clear());
    this.#spent.add(orgId);
  }
}
