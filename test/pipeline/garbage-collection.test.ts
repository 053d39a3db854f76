// What large bodies leave is collected after so many bytes of them, and small ones cost nothing.
import { expect, spyOn, test } from 'bun:test';
import { nextTurn } from '../../db/event-loop.ts';
import { readBytes } from '../../server/pipeline/body.ts';
import { BODY_TIMEOUTS } from '../../server/pipeline/body-timeouts.ts';
import { GarbageCollector } from '../../server/pipeline/garbage-collection.ts';
import { IN_FLIGHT_LIMITS, InFlightBudget } from '../../server/quotas/in-flight-budget.ts';

const MIB = 1024 * 1024;

test('garbage is collected once for every 32 MiB of large bodies, after their requests', async () => {
  let collected = 0;
  const leftovers = new GarbageCollector(() => collected++);
  const after = async (...mebibytes: number[]) => {
    for (const one of mebibytes) leftovers.add(one * MIB);
    const atOnce = collected;
    await nextTurn();
    return [atOnce, collected];
  };
  expect(await after(...Array(1_000).fill(0.2))).toEqual([0, 0]);
  expect(await after(1, 30, 0.2)).toEqual([0, 0]);
  expect(await after(1)).toEqual([0, 1]);
  expect(await after(32)).toEqual([1, 2]);
  expect(await after(20, 10)).toEqual([2, 2]);
  expect(await after(20)).toEqual([2, 3]);
});

test.each([
  ['a process that has taken much memory waits for it', 400, true],
  ['one that has not goes on', 200, false],
])('%s', async (_, mebibytes, waits) => {
  using rss = spyOn(process.memoryUsage, 'rss').mockReturnValue(mebibytes * MIB);
  using gc = spyOn(Bun, 'gc').mockReturnValue(undefined);
  new GarbageCollector().add(32 * MIB);
  await nextTurn();
  expect(rss).toHaveBeenCalledTimes(1);
  expect(gc.mock.calls).toEqual([[waits]]);
});

test('the pieces of a large body are freed while it is read', async () => {
  const pieces = Array.from({ length: 64 }, (_, index) => new Uint8Array(32 * 1024).fill(index));
  const whole = Buffer.concat(pieces);
  const unread = [...pieces];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = unread.shift();
      if (piece === undefined) controller.close();
      else controller.enqueue(piece);
    },
  });
  const request = new Request('http://localhost/', { method: 'POST', body });
  const budget = new InFlightBudget({ limits: IN_FLIGHT_LIMITS, limit: 'bodies', subject: 'bodies' });
  const bytes = await readBytes(request, {
    bytesMax: 32 * MIB,
    claim: budget.open({ orgNumber: 1, keyId: 'key', bodyBytesMax: null }),
    timeout: BODY_TIMEOUTS.batch,
    limitSilence: () => undefined,
  });
  expect(whole.equals(bytes)).toBe(true);
  expect(pieces.filter(({ byteLength }) => byteLength > 0)).toEqual([]);
});
