// What large bodies leave behind: garbage that grows faster than the engine looks for it.

const MIB = 1024 * 1024;
/** What is smaller leaves no more than the engine collects by itself. */
const LARGE_BYTES_MIN = MIB / 4;
/** Bytes of large bodies after which their garbage is collected. */
const COLLECT_AFTER_BYTES = 32 * MIB;

export class Leftovers {
  readonly #collect: () => void;
  #bytes = 0;

  /** @param collect frees what is not used any more; called between requests */
  constructor(collect: () => void = () => Bun.gc(false)) {
    this.#collect = collect;
  }

  /** Takes note of a body that has been dealt with. */
  add(bytes: number): void {
    if (bytes < LARGE_BYTES_MIN) return;
    this.#bytes += bytes;
    if (this.#bytes < COLLECT_AFTER_BYTES) return;
    this.#bytes = 0;
    // Until the answer is on its way its request still holds on to what it was made from.
    setImmediate(this.#collect);
  }
}
