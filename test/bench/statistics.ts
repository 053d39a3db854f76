// Figures of several rounds: the middle one, and how far they lie apart.

export interface Spread {
  median: number;
  min: number;
  max: number;
}

/** The spread of one figure over all rounds; zeros where none of them was long enough to tell it. */
export function spread(values: readonly number[]): Spread {
  const sorted = values.filter(Number.isFinite).toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = 0, high = 0] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return { median: (low + high) / 2, min: sorted[0] ?? 0, max: sorted.at(-1) ?? 0 };
}
