// Draws by chance, the same in each run: evenly, or as names and words are spread, a few of them most of the time.
import { type Random, randomNumbers } from '../../support/random.ts';

/** Draws an index below `count`: the first ones most often, the second half as often as the first, and so on. */
export type Ranked = () => number;

/** A source of draws with a seed of its own, so that one more draw in one place changes nothing in the others. */
export class Draw {
  readonly #random: Random;

  constructor(seed: number) {
    this.#random = randomNumbers(seed);
  }

  /** From 0 up to 1. */
  share(): number {
    return this.#random();
  }

  /** A whole number from 0 up to `end`. */
  below(end: number): number {
    return Math.floor(this.#random() * end);
  }

  /** From `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  happens(share: number): boolean {
    return this.#random() < share;
  }

  one<T>(list: readonly [T, ...T[]]): T {
    return list[this.below(list.length)] ?? list[0];
  }

  /**
   * Draws ranks by Zipf's law.
   * @param steepness 1 for words and names; less for what is spread more evenly
   */
  ranked(count: number, steepness = 1): Ranked {
    const ends = new Float64Array(count);
    let sum = 0;
    for (let rank = 0; rank < count; rank++) {
      sum += 1 / (rank + 1) ** steepness;
      ends[rank] = sum;
    }
    return () => firstOver(ends, this.#random() * sum);
  }
}

/** The place of the first end that is greater. */
function firstOver(ends: Float64Array, value: number): number {
  let [low, high] = [0, ends.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ends[middle] ?? 0) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
