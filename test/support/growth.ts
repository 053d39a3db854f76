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
const ATTEMPTS = 10;
const PAUSE_MS = 100;

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
    let cost = await leastMs(work, size, 1);
    const isOdd = async () => {
      if (cost <= NOISE_MS) return false;
      const least = Math.max(LEAST_MS, await leastMs(work, smaller, RUNS));
      if (cost / least <= (size / smaller) * MARGIN) return false;
      cost = Math.min(cost, await leastMs(work, size, RUNS));
      return true;
    };
    if (smaller < size && (await isSeenEachTime(isOdd)))
      return { isTooMuch: true, costs: [...costs, [size, cost]] };
    costs.push([size, cost]);
  }
  const last = costs.at(-1)?.[1] ?? 0;
  const isLong = async () => (await leastMs(work, to, RUNS)) > msMax;
  const isTooMuch = last > msMax && (await isSeenEachTime(isLong));
  return { isTooMuch, costs };
}

// Over some seconds: a run may have had to collect garbage, or have run before it was compiled, and for a moment other
// processes can take all of a core's cache.
async function isSeenEachTime(look: () => Promise<boolean>): Promise<boolean> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    if (!(await look())) return false;
    await Bun.sleep(attempt * PAUSE_MS);
  }
  return true;
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
