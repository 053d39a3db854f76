// Timeouts that do not count a stall of this process.
import { expect, test } from 'bun:test';
import { setStallTolerantTimeout } from '../../server/pipeline/stall-tolerant-timeout.ts';
import { promptRound } from '../support/rounds.ts';

/** What happens in which order if the process stalls while a timeout of 50 ms runs and data is on its way. */
async function orderWithStall(stallMs: number, send: (arrive: () => void) => void): Promise<string[]> {
  const happened: string[] = [];
  const called = Promise.withResolvers<void>();
  setStallTolerantTimeout(() => {
    happened.push('called back');
    called.resolve();
  }, 50);
  send(() => happened.push('data'));
  Bun.sleepSync(stallMs);
  await called.promise;
  return happened;
}

test('what was due during a stall comes first', async () => {
  expect(await orderWithStall(400, (arrive) => setTimeout(arrive, 60))).toEqual(['data', 'called back']);
});

test('what was due during a short stall, and takes another turn to arrive, comes first', async () => {
  const happened = await orderWithStall(90, (arrive) => setTimeout(() => setTimeout(arrive, 0), 10));
  expect(happened).toEqual(['data', 'called back']);
});

test('a stall delays it by no more than its own length', async () => {
  const stallMs = 600;
  // Another stall would delay it again, but not each time.
  const delayMs = await promptRound(stallMs + 400, async () => {
    const called = new Promise<void>((resolve) => {
      setStallTolerantTimeout(resolve, 20);
    });
    Bun.sleepSync(stallMs);
    const stalledUntil = performance.now();
    await called;
    return performance.now() - stalledUntil;
  });
  expect(delayMs).toBeGreaterThanOrEqual(15);
});

test('does not call back once it is cleared, with or without a stall', async () => {
  let calls = 0;
  const count = () => {
    calls += 1;
  };
  const [cleared, stalled] = [setStallTolerantTimeout(count, 20), setStallTolerantTimeout(count, 150)];
  cleared.clear();
  Bun.sleepSync(400);
  // Its first timer has fired, and the second runs.
  await Bun.sleep(10);
  stalled.clear();
  await Bun.sleep(400);
  expect(calls).toBe(0);
});
