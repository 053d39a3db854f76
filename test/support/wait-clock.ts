// The clock by which waits are measured, moved forward instead of waiting, for what runs in this process.
import { spyOn } from 'bun:test';

export class TurnedClock implements Disposable {
  readonly #now = performance.now.bind(performance);
  readonly #spy = spyOn(performance, 'now').mockImplementation(() => this.#now() + this.#skippedMs);
  #skippedMs = 0;

  /** Has so many milliseconds pass at once. */
  skip(ms: number): void {
    this.#skippedMs += ms;
  }

  [Symbol.dispose](): void {
    this.#spy.mockRestore();
  }
}
