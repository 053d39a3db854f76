// How late a thread runs its timers because it is busy with something else.
import { Histogram, SECONDS_BUCKETS } from '../../db/engine/histogram.ts';

const EVERY_MS = 100;

export class LoopDelay {
  readonly seconds = new Histogram(SECONDS_BUCKETS);
  #dueAt = performance.now() + EVERY_MS;

  /** Samples ten times per second, without keeping the thread alive. */
  constructor() {
    setInterval(() => this.#sample(), EVERY_MS).unref();
  }

  // Timers have whole milliseconds, and can fire slightly early.
  #sample(): void {
    const now = performance.now();
    this.seconds.add(Math.max(0, now - this.#dueAt) / 1_000);
    this.#dueAt = now + EVERY_MS;
  }
}
