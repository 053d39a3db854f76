// Bytes that come in pieces, as many and as small as the sender likes, put together in one place.

const BYTES_MIN = 64 * 1024;

export class Gathered {
  #bytes: Uint8Array;
  #size = 0;

  /** @param expected how many bytes will come; 0 where nobody knows */
  constructor(expected: number) {
    // Not filled with zeros, which would take 30 ms of a large one; no more of it is read than was written.
    this.#bytes = Buffer.allocUnsafeSlow(expected === 0 ? BYTES_MIN : expected);
  }

  get size(): number {
    return this.#size;
  }

  add(piece: Uint8Array): void {
    const size = this.#size + piece.byteLength;
    if (size > this.#bytes.byteLength) {
      const larger = Buffer.allocUnsafeSlow(Math.max(size, 2 * this.#bytes.byteLength));
      larger.set(this.bytes());
      this.#bytes = larger;
    }
    this.#bytes.set(piece, this.#size);
    this.#size = size;
  }

  /** All that has come. */
  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#size);
  }
}
