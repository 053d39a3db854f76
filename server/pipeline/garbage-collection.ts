// Garbage that large bodies leave: it grows faster than the engine collects it.

const MIB = 1024 * 1024;
/** Smaller bodies leave no more than the engine collects by itself. */
const LARGE_BYTES_MIN = MIB / 4;
/** Bytes of large bodies after which garbage is collected. */
const COLLECT_AFTER_BYTES = 32 * MIB;
/** Memory of the process from which on requests wait some tens of milliseconds for the collection: beside them it comes late. */
const WAIT_FROM_BYTES = 320 * MIB;

export class GarbageCollector {
  readonly #collect: () => void;
  #bytes = 0;

  /** @param collect frees unused memory; called between requests */
  constructor(collect: () => void = () => Bun.gc(process.memoryUsage.rss() >= WAIT_FROM_BYTES)) {
    this.#collect = collect;
  }

  /** Notes the bytes of a body that has been read, or processed. */
  add(bytes: number): void {
    if (bytes < LARGE_BYTES_MIN) return;
    this.#bytes += bytes;
    if (this.#bytes < COLLECT_AFTER_BYTES) return;
    this.#bytes = 0;
    // Until its response is sent, the request keeps what it was made from.
    setImmediate(this.#collect);
  }
}
