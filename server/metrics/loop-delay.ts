// How long a thread is kept from what is due, because it is busy with something else.
import { Distribution, SECONDS_BOUNDS } from '../../db/distribution.ts';

const EVERY_MS = 100;

export class LoopDelay {
  readonly seconds = new Distribution(SECONDS_BOUNDS);
  readonly #timer: Timer;
  #dueAt = performance.now() + EVERY_MS;

  /** Looks ten times a second, until it is stopped. */
  constructor() {
    this.#timer = setInterval(() => this.#look(), EVERY_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  // Timers go by whole milliseconds, and may come a little early.
  #look(): void {
    const now = performance.now();
    this.seconds.add(Math.max(0, now - this.#dueAt) / 1_000);
    this.#dueAt = now + EVERY_MS;
  }
}
