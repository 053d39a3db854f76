// What is made once and kept: for an object as long as that lives, or for a key as long as there is room.

/** Makes a function that computes a value once for each object, at first use. */
export function memoize<K extends WeakKey, V>(compute: (key: K) => V): (key: K) => V {
  const values = new WeakMap<K, V>();
  return (key) => {
    let value = values.get(key);
    if (value === undefined) {
      value = compute(key);
      values.set(key, value);
    }
    return value;
  };
}

/** A map of limited size: it is emptied before an entry that would exceed it, as finding the oldest one costs 20 µs. */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #sizeMax: number;

  constructor(sizeMax: number) {
    super();
    this.#sizeMax = sizeMax;
  }

  override set(key: K, value: V): this {
    if (this.size >= this.#sizeMax && !this.has(key)) this.clear();
    return super.set(key, value);
  }

  /** The value of a key, computed if there is none. */
  getOrCompute(key: K, compute: (key: K) => V): V {
    let value = this.get(key);
    if (value === undefined) {
      value = compute(key);
      this.set(key, value);
    }
    return value;
  }
}
