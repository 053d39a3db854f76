// A lock in memory that threads share: held for less than a microsecond, and free again for whoever slept meanwhile.

const FREE = 0;
const HELD = 1;
const WAITED_FOR = 2;

/** A lock in one word of 32 bits; of memory that is not shared nobody has to wait for it. */
export class MemoryLock {
  readonly #words: Int32Array;
  readonly #at: number;
  readonly #isShared: boolean;

  constructor(words: Int32Array, at: number) {
    this.#words = words;
    this.#at = at;
    this.#isShared = words.buffer instanceof SharedArrayBuffer;
  }

  /** Takes it; one thread does so once until it leaves, and what it does meanwhile must not throw. */
  enter(): void {
    if (!this.#isShared) return;
    const words = this.#words;
    if (Atomics.compareExchange(words, this.#at, FREE, HELD) === FREE) return;
    while (Atomics.exchange(words, this.#at, WAITED_FOR) !== FREE) Atomics.wait(words, this.#at, WAITED_FOR);
  }

  leave(): void {
    if (this.#isShared && Atomics.exchange(this.#words, this.#at, FREE) === WAITED_FOR)
      Atomics.notify(this.#words, this.#at, 1);
  }
}
