// Hashes of names, for tables in memory that threads share.

import { BoundedMap } from '../cache.ts';
/** 64 bits as two words. */
export interface Hash {
  low: number;
  high: number;
}

// Cached, so that the same names are not hashed again.
const HASHES_MAX = 10_000;
/** Words of a seed. */
export const SEED_WORDS = 2;

/** A random seed, so that no one can choose names that collide. */
export function newSeed(): Int32Array {
  return crypto.getRandomValues(new Int32Array(SEED_WORDS));
}

export class NameHashes {
  readonly #seed: bigint;
  readonly #hashes = new BoundedMap<string | number, Hash>(HASHES_MAX);
  #minute = 0;

  /** @param seed from `newSeed` */
  constructor(seed: Int32Array) {
    const [low = 0, high = 0] = seed;
    this.#seed = (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
  }

  /** @param minute the current one, if hashes are not to be cached for longer */
  of(name: string | number, minute = 0): Hash {
    if (minute !== this.#minute) {
      // Many names are never used again, such as the token of a link.
      this.#hashes.clear();
      this.#minute = minute;
    }
    let hash = this.#hashes.get(name);
    if (hash === undefined) {
      const bits = Bun.hash.wyhash(String(name), this.#seed);
      hash = { low: Number(bits & 0xffff_ffffn) | 0, high: Number(bits >> 32n) | 0 };
      this.#hashes.set(name, hash);
    }
    return hash;
  }
}
