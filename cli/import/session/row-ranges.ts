// A set of row indexes, stored as ranges, which stays small if neighboring rows have the same result.

type Range = [from: number, to: number];

/** A growing set of row indexes. */
export class RowRanges {
  readonly #ranges: Range[];

  constructor(ranges: readonly (readonly [number, number])[] = []) {
    this.#ranges = ranges.map(([from, to]) => [from, to]);
  }

  /** Adds a row after all rows in the set. */
  add(index: number): void {
    const last = this.#ranges.at(-1);
    if (last !== undefined && last[1] === index - 1) last[1] = index;
    else this.#ranges.push([index, index]);
  }

  has(index: number): boolean {
    let [low, high] = [0, this.#ranges.length - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const [from, to] = this.#ranges[middle] ?? [0, 0];
      if (index < from) high = middle - 1;
      else if (index > to) low = middle + 1;
      else return true;
    }
    return false;
  }

  /** How many rows are in the set. */
  get size(): number {
    return this.#ranges.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  }

  /** These rows, and those of another set after `reach`. */
  withThoseAfter(other: RowRanges, reach: number): RowRanges {
    const after = other.#ranges.filter(([, to]) => to > reach);
    return new RowRanges([
      ...this.#ranges,
      ...after.map(([from, to]): Range => [Math.max(from, reach + 1), to]),
    ]);
  }

  toJSON(): readonly Range[] {
    return this.#ranges;
  }
}
