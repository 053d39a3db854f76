// Timers that forgive the time in which this process did not run.
import { expect, test } from 'bun:test';
import { afterOwnTime } from '../../server/pipeline/own-time.ts';

test('what was due while the process was held up comes first', async () => {
  const happened: string[] = [];
  const called = new Promise<void>((resolve) => {
    afterOwnTime(50, () => {
      happened.push('called back');
      resolve();
    });
  });
  setTimeout(() => happened.push('data'), 60);
  Bun.sleepSync(400);
  await called;
  expect(happened).toEqual(['data', 'called back']);
});

test('being held up delays it by its own time at most, and not again without a reason', async () => {
  const begun = performance.now();
  const called = new Promise<void>((resolve) => {
    afterOwnTime(20, resolve);
  });
  Bun.sleepSync(1_000);
  await called;
  expect(performance.now() - begun).toBeGreaterThan(1_015);
});

test('does not call back once it is cleared, held up or not', async () => {
  let calls = 0;
  const count = () => {
    calls += 1;
  };
  const [cleared, held] = [afterOwnTime(20, count), afterOwnTime(150, count)];
  cleared.clear();
  Bun.sleepSync(400);
  // Its first timer has fired, and the second runs.
  await Bun.sleep(10);
  held.clear();
  await Bun.sleep(400);
  expect(calls).toBe(0);
});
