// A lock in shared memory, held for less than a microsecond; releasing it wakes waiting threads.

const FREE = 0;
const HELD = 1;
const WAITED_FOR = 2;

/** A lock in one 32-bit word; in memory that is not shared, no one waits for it. */
export class MemoryLock {
  readonly #words: Int32Array;
  readonly #at: number;
  readonly #isShared: boolean;

  constructor(words: Int32Array, at: number) {
    this.#words = words;
    this.#at = at;
    this.#isShared = words.buffer instanceof SharedArrayBuffer;
  }

  /** Takes the lock; until it is released, no other thread has it, and the holder must not throw. */
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
