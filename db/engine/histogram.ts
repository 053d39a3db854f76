// A histogram: counts values by bucket without storing them.

/** Bounds for durations from 100 µs to 10 s, in seconds. */
export const SECONDS_BUCKETS: readonly number[] = [
  0.0001, 0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

export class Histogram {
  readonly bounds: readonly number[];
  /** How many values are at most each bound, and above the previous one; the last element counts those above all. */
  readonly counts: number[];
  sum = 0;

  /** @param bounds in ascending order */
  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  add(value: number): void {
    const { bounds, counts } = this;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] ?? 0)) at += 1;
    counts[at] = (counts[at] ?? 0) + 1;
    this.sum += value;
  }

  /** Number of values. */
  get count(): number {
    return this.counts.reduce((sum, count) => sum + count, 0);
  }
}
