// What is counted in each minute: two limits that rise together, minutes that only go forward, events that are given back.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { hasRoom, type RateLimitEvent, WINDOW_MS } from '../../db/counters/counters.ts';
import { type Harness, startHarness } from '../support/harness.ts';

let harness: Harness;
let groups = 0;
let counted: RateLimitEvent;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());
beforeEach(() => {
  groups += 1;
  counted = requests('a', { limit: 3, memberLimit: 2 });
});

const requests = (name: string, { limit = 3, memberLimit = 2 }): RateLimitEvent => ({
  what: 'requests',
  group: groups,
  limit,
  member: { name, limit: memberLimit },
});
const count = async (one = counted) => (await harness.store.counters.count(one)).isCounted;
const used = async (one = counted) => {
  const usage = await harness.store.counters.peek(one);
  return [usage.used, usage.memberUsed];
};

test('an event counts for both or for neither', async () => {
  const other = requests('b', {});
  expect([await count(), await count(), await count()]).toEqual([true, true, false]);
  expect(await used()).toEqual([2, 2]);
  expect([await count(other), await count(other)]).toEqual([true, false]);
  expect([await used(), await used(other)]).toEqual([
    [3, 2],
    [3, 1],
  ]);
});

test('a count tells what is used up with it, one that is refused what was used up without', async () => {
  const { counters } = harness.store;
  const [minute, { now }] = [Math.floor(harness.clock.now / WINDOW_MS), harness.clock];
  for (const memberUsed of [1, 2])
    expect(await counters.count(counted)).toEqual({
      isCounted: true,
      used: memberUsed,
      memberUsed,
      minute,
      now,
    });
  const refused = await counters.count(counted);
  expect(refused).toEqual({ isCounted: false, used: 2, memberUsed: 2, minute, now });
  expect(hasRoom(counted, refused)).toBe(false);
});

test('a group without members, and names that are alike, are counted apart', async () => {
  const group = 'x'.repeat(43);
  const alike = (['wrong_keys', 'downloads'] as const).map((what) => ({ what, group, limit: 1 }));
  for (const one of alike) expect([await count(one), await count(one)]).toEqual([true, false]);
  expect(await count({ what: 'downloads', group: 'y', limit: 1 })).toBe(true);
});

test('minutes go forward, unless the clock is set back', async () => {
  const { clock } = harness;
  const start = (Math.floor(clock.now / WINDOW_MS) + 1) * WINDOW_MS;
  clock.now = start;
  expect([await count(), await count(), await count()]).toEqual([true, true, false]);
  // A request of the minute before.
  clock.now = start - 1;
  expect([await count(), await used()]).toEqual([false, [2, 2]]);
  clock.now = start + WINDOW_MS;
  expect([await used(), await count(), await used()]).toEqual([[0, 0], true, [1, 1]]);
  clock.now = start - WINDOW_MS;
  expect([await used(), await count(), await used()]).toEqual([[0, 0], true, [1, 1]]);
});

test('an event is given back to its own minute only', async () => {
  const { counters } = harness.store;
  const { minute } = await counters.count(counted);
  await counters.count(counted);
  await counters.giveBack(counted, minute);
  expect(await used()).toEqual([1, 1]);
  expect([await count(), await count()]).toEqual([true, false]);
  await counters.giveBack(counted, minute - 1);
  expect(await used()).toEqual([2, 2]);
});

test('a limit of none lets nothing in, not even the first of a minute', async () => {
  for (const limits of [{ limit: 0 }, { memberLimit: 0 }])
    expect(await count(requests('a', limits))).toBe(false);
  expect(await used()).toEqual([0, 0]);
});

test('a thousand at once are let in up to the limit, each told another count', async () => {
  const { counters } = harness.store;
  const members = ['a', 'b', 'c'].map((name) => requests(name, { limit: 500, memberLimit: 200 }));
  const usages = await Promise.all(
    Array.from({ length: 999 }, (_, index) => counters.count(members[index % 3] ?? counted)),
  );
  const seen = usages.filter(({ isCounted }) => isCounted).map((usage) => usage.used);
  expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 500 }, (_, index) => index + 1));
});

test('minutes that are over are forgotten, the one before the present excepted', async () => {
  const { clock, store } = harness;
  await count();
  clock.now += WINDOW_MS;
  await store.counters.purge();
  expect(await count(requests('b', { limit: 1 }))).toBe(true);
  clock.now -= WINDOW_MS;
  expect(await count(requests('b', { limit: 1 }))).toBe(false);
  clock.now += 3 * WINDOW_MS;
  await store.counters.purge();
  expect(await used()).toEqual([0, 0]);
});
