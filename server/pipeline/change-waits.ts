// Waits of an open request for changes of its organization: for a limited time, and never beyond its client.
import type { ChangeSignals } from '../../db/engine/change-signals.ts';

// Between two reads for one request: many changes could come that it does not see.
const READ_EVERY_MS = 10;

/** Waits for changes of an organization, for one request. */
export class ChangeWaits {
  readonly #signals: ChangeSignals;
  readonly #orgNumber: number;
  readonly #ends: readonly AbortSignal[];
  #wokenAt = Number.NEGATIVE_INFINITY;

  /** @param ends signals that end every wait */
  constructor(signals: ChangeSignals, orgNumber: number, ends: readonly AbortSignal[]) {
    this.#signals = signals;
    this.#orgNumber = orgNumber;
    this.#ends = ends;
  }

  /** Whether no wait is possible any more. */
  get isOver(): boolean {
    return this.#ends.some(({ aborted }) => aborted);
  }

  /** Waits until there can be changes after that sequence number; false if it ended before, or after `ms` milliseconds. */
  async wait(after: number, ms: number): Promise<boolean> {
    if (this.isOver || ms <= 0) return false;
    const ending = new AbortController();
    const end = () => ending.abort();
    const timer = setTimeout(end, ms);
    for (const signal of this.#ends) signal.addEventListener('abort', end);
    try {
      const restMs = this.#wokenAt + READ_EVERY_MS - performance.now();
      if (restMs > 0) await Bun.sleep(restMs);
      await this.#signals.wait(this.#orgNumber, after, ending.signal);
      this.#wokenAt = performance.now();
      return !ending.signal.aborted;
    } finally {
      clearTimeout(timer);
      for (const signal of this.#ends) signal.removeEventListener('abort', end);
    }
  }
}
