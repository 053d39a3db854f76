// What large bodies leave is collected after so many bytes of them, and small ones cost nothing.
import { expect, test } from 'bun:test';
import { nextTurn } from '../../db/event-loop.ts';
import { GarbageCollector } from '../../server/pipeline/garbage-collection.ts';

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
