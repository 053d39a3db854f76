// Collects bytes that arrive in pieces of any size in one buffer.

const BYTES_MIN = 64 * 1024;

export class ByteBuffer {
  #bytes: Uint8Array;
  #size = 0;

  /** @param expected how many bytes will arrive; 0 if unknown */
  constructor(expected: number) {
    // Not zeroed, which takes 30 ms for a large buffer; only written bytes are read.
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

  /** All bytes so far. */
  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#size);
  }
}
