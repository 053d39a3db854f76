// The service agrees with a model in memory, whatever requests come in whatever order. `bun run soak` runs it at length.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { isPostgres } from '../support/fresh-databases.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { anyRequest } from './arbitraries.ts';
import { compareAll, Step, startWorld } from './run.ts';
import type { Real } from './steps.ts';
import type { World } from './world.ts';

/** Runs, each with a seed of its own, and requests in each of them. */
// A third as many on PostgreSQL: what only an engine can get wrong comes soon.
const SEEDS = Number(process.env.MODEL_SEEDS ?? (isPostgres ? 14 : 40));
const OPERATIONS = Number(process.env.MODEL_OPERATIONS ?? 150);
const FIRST_SEED = Number(process.env.MODEL_FIRST_SEED ?? 1);
const HOUR_MS = 3_600_000;
const LINES_SHOWN = 12;

// Left out when a failure is made smaller: an array of fixed length can only shrink in its items.
const step = fc.option(
  anyRequest.map((request) => new Step(request)),
  { nil: null, freq: 1_000_000_000 },
);
const steps = fc.array(step, { minLength: OPERATIONS, maxLength: OPERATIONS });

let harness: Harness;
let rehearsing: Harness;

beforeAll(async () => {
  harness = await startHarness();
  rehearsing = await startHarness({ isRehearsed: true });
});
afterAll(async () => {
  await harness.close();
  await rehearsing.close();
});

async function agree(harness: Harness, commands: (Step | null)[]): Promise<void> {
  const started = await startWorld(harness);
  const { model, real }: { model: World; real: Real } = started;
  try {
    await fc.asyncModelRun(
      () => started,
      commands.filter((command) => command !== null),
    );
    await compareAll(model, real);
  } catch (error) {
    const sent = real.log.slice(-LINES_SHOWN).join('\n');
    throw new Error(`${error instanceof Error ? error.message : error}\nSent last:\n${sent}`);
  }
}

async function runSeeds(harness: Harness, seeds: number): Promise<void> {
  const property = fc.asyncProperty(steps, (commands) => agree(harness, commands));
  for (let seed = FIRST_SEED; seed < FIRST_SEED + seeds; seed++)
    await fc.assert(property, { seed, numRuns: 1 });
  expect(seeds * OPERATIONS).toBeGreaterThan(0);
}

test(`${SEEDS} seeds × ${OPERATIONS} operations`, () => runSeeds(harness, SEEDS), HOUR_MS);

test('the same where every job is run twice', () => runSeeds(rehearsing, Math.ceil(SEEDS / 6)), HOUR_MS);
