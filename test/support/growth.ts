// How much more work a step has with larger input: the least CPU time of several runs, at sizes that grow sixteenfold.
import { threadMs } from './thread-time.ts';

// What is linear then takes sixteen times as long, what is quadratic 256 times: between the two there is room for
// caches that are too small, for garbage, and for what the compiler does late.
const STEP = 16;
const MARGIN = 4;
// Below, nobody waits for long, and what is measured is noise. Milliseconds.
const NOISE_MS = 4;
const LEAST_MS = 0.05;
const RUNS = 5;
const ATTEMPTS = 3;

export type Work = (size: number) => unknown;

export interface Growth {
  /** Whether it grows by more than linear, or takes longer than it may at the largest size. */
  isTooMuch: boolean;
  /** The least milliseconds by size. */
  costs: [size: number, ms: number][];
}

export interface GrowthLimits {
  from: number;
  to: number;
  /** Milliseconds that it may take at the largest size; without limit unless given. */
  msMax?: number;
}

/** Measures work from the smallest size on, and goes no further once it grows by more than linear. */
export async function growthOf(
  work: Work,
  { from, to, msMax = Number.POSITIVE_INFINITY }: GrowthLimits,
): Promise<Growth> {
  const costs: [number, number][] = [];
  for (const size of sizesOf(from, to)) {
    // Sixteen times smaller, also where the last size is less than that above the one before.
    const smaller = costs.length === 0 ? size : Math.max(from, Math.round(size / STEP));
    const isOdd = (large: number, small: number): boolean =>
      large / Math.max(LEAST_MS, small) > (size / smaller) * MARGIN;
    let cost = await leastMs(work, size, 1);
    // Told only if it is seen each time: a run may have had to collect garbage, or have run before it was compiled.
    let attempts = 0;
    while (cost > NOISE_MS && smaller < size && isOdd(cost, await leastMs(work, smaller, RUNS))) {
      if (++attempts === ATTEMPTS) return { isTooMuch: true, costs: [...costs, [size, cost]] };
      cost = await leastMs(work, size, RUNS);
    }
    costs.push([size, cost]);
  }
  const last = costs.at(-1)?.[1] ?? 0;
  const isTooMuch = last > msMax && (await leastMs(work, to, RUNS)) > msMax;
  return { isTooMuch, costs };
}

function sizesOf(from: number, to: number): number[] {
  const sizes: number[] = [];
  for (let size = from; size < to; size *= STEP) sizes.push(size);
  return [...sizes, to];
}

async function leastMs(work: Work, size: number, runs: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run++) {
    const begun = threadMs();
    const working = work(size);
    if (working instanceof Promise) await working;
    least = Math.min(least, threadMs() - begun);
  }
  return least;
}
