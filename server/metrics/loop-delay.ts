// How long a thread is kept from what is due, because it is busy with something else.
import { Distribution, SECONDS_BOUNDS } from '../../db/engine/histogram.ts';

const EVERY_MS = 100;

export class LoopDelay {
  readonly seconds = new Distribution(SECONDS_BOUNDS);
  #dueAt = performance.now() + EVERY_MS;

  /** Looks ten times a second, for as long as the thread has something else to do. */
  constructor() {
    setInterval(() => this.#look(), EVERY_MS).unref();
  }

  // Timers go by whole milliseconds, and may come a little early.
  #look(): void {
    const now = performance.now();
    this.seconds.add(Math.max(0, now - this.#dueAt) / 1_000);
    this.#dueAt = now + EVERY_MS;
  }
}
