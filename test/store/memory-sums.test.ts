// Sums in memory: names that come and go beside one another, a table that is full.
import { expect, test } from 'bun:test';
import { allocateSums, MemorySums } from '../../db/counters/memory-sums.ts';
import type { Adding } from '../support/adding-thread.ts';

const ENTRIES = 64;

// The same ones each time.
function randomNumbers(): (below: number) => number {
  let state = 1;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test('are those of a map, whatever names are added to, whatever becomes 0, up to a full table', () => {
  const sums = new MemorySums(allocateSums(false, ENTRIES));
  const expected = new Map<string, number>();
  const random = randomNumbers();
  for (let turn = 0; turn < 20_000; turn++) {
    const [kind, name] = [random(3), `name ${random(18)}`];
    const of = `${kind} ${name}`;
    const amount = random(2) === 0 ? -(expected.get(of) ?? 0) : random(2 ** 40);
    sums.add(kind, name, amount);
    expected.set(of, (expected.get(of) ?? 0) + amount);
    if (turn % 50 > 0) continue;
    for (const [one, sum] of expected)
      expect([one, sums.get(Number(one[0]), one.slice(2))]).toEqual([one, sum]);
  }
  for (const [one, sum] of expected) sums.add(Number(one[0]), one.slice(2), -sum);
  expect(sums.isFull).toBe(false);
  for (let name = 0; name < ENTRIES / 2; name++) sums.add(0, name, 1);
  expect(sums.isFull).toBe(true);
  for (let name = 0; name < 2 * ENTRIES; name++) sums.add(1, name, 1);
  expect(sums.get(0, 5)).toBe(1);
  expect(sums.get(1, 2 * ENTRIES)).toBe(0);
  for (let name = 0; name < ENTRIES / 2; name++) sums.add(0, name, -1);
  expect(sums.get(1, 0)).toBe(1);
});

test('are exact where threads add at once', async () => {
  const memory = allocateSums(true) as SharedArrayBuffer;
  const adding: Adding = { memory, names: 40, turns: 20_000 };
  const done = Array.from({ length: 3 }, () => {
    const thread = new Worker(new URL('../support/adding-thread.ts', import.meta.url));
    return new Promise<void>((resolve, reject) => {
      thread.onmessage = () => resolve(thread.terminate());
      thread.onerror = ({ message }) => reject(new Error(message));
      thread.postMessage(adding);
    });
  });
  await Promise.all(done);
  const sums = new MemorySums(memory);
  const all = Array.from({ length: adding.names }, (_, name) => sums.get(0, name));
  expect(all).toEqual(Array(adding.names).fill(0));
  expect(sums.get(1, 'all')).toBe(3 * adding.turns);
}, 300_000);
