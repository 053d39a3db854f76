// Counts in memory: threads that count in it at once, a table that is full, names that come again.
import { expect, test } from 'bun:test';
import { hasRoom, type RateLimitEvent, WINDOW_MS } from '../../db/counters/counters.ts';
import { allocateCounters, MemoryCounters } from '../../db/counters/memory-counters.ts';
import type { Counting } from '../support/counting-thread.ts';

const THREADS = 4;
const MINUTES = 5;
const ENTRIES = 64;

/** What a thread of `support/` responds to a message. */
function answerOf<Answer>(name: string, message: unknown): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL(`../support/${name}.ts`, import.meta.url));
    thread.onmessage = ({ data }) => {
      thread.terminate();
      resolve(data);
    };
    thread.onerror = ({ message }) => reject(new Error(message));
    thread.postMessage(message);
  });
}

const requests = (group: number, name: string): RateLimitEvent => ({
  what: 'requests',
  group,
  limit: 400,
  member: { name, limit: 150 },
});

test('threads let in as many as the limits say in each minute, and tell each another count', async () => {
  const counted = [1, 2].flatMap((group) => ['a', 'b', 'c'].map((name) => requests(group, name)));
  const counting: Counting = {
    memory: allocateCounters(true) as SharedArrayBuffer,
    turns: new SharedArrayBuffer(4),
    turnsPerMinute: 60_000,
    minutes: MINUTES,
    counted,
  };
  const lines = (
    await Promise.all(Array.from({ length: THREADS }, () => answerOf<string[]>('counting-thread', counting)))
  ).flat();
  const events = lines.map((line) => line.split(' ').map(Number));
  const byGroup = Map.groupBy(events, ([minute, group]) => `${minute} of ${group}`);
  expect(byGroup.size).toBe(2 * MINUTES);
  for (const [name, ofGroup] of byGroup) {
    const counts = ofGroup.map(([, , used = 0]) => used).toSorted((a, b) => a - b);
    expect([name, counts]).toEqual([name, Array.from({ length: 400 }, (_, index) => index + 1)]);
    const byMember = Map.groupBy(ofGroup, ([, , , member]) => member);
    for (const ofMember of byMember.values()) {
      const memberCounts = ofMember.map(([, , , , used = 0]) => used).toSorted((a, b) => a - b);
      expect(memberCounts).toEqual(Array.from(memberCounts, (_, index) => index + 1));
      expect(memberCounts.length).toBeLessThanOrEqual(150);
    }
  }
}, 300_000);

const address = (name: number): RateLimitEvent => ({
  what: 'wrong_keys',
  group: `address-${name}`,
  limit: 3,
});

test('a name for which there is no room is refused as if its limit were used up, until the minute is over', () => {
  let now = 0;
  const counters = new MemoryCounters(() => now, allocateCounters(false, ENTRIES));
  for (let name = 0; name < ENTRIES; name++) expect(counters.count(address(name)).isCounted).toBe(true);
  const late = address(ENTRIES);
  expect(counters.count(late)).toMatchObject({ isCounted: false, used: 3 });
  expect(hasRoom(late, counters.peek(late))).toBe(false);
  counters.giveBack(late, 0);
  // Those that are in it go on, and so does what is counted beside.
  expect(counters.count(address(0))).toMatchObject({ isCounted: true, used: 2 });
  expect(counters.count(requests(1, 'a')).isCounted).toBe(true);
  now += WINDOW_MS;
  expect(counters.count(late)).toMatchObject({ isCounted: true, used: 1 });
});

test('a member for which there is no room is refused, and its group not counted', () => {
  const counters = new MemoryCounters(() => 0, allocateCounters(false, ENTRIES));
  for (let name = 1; name < ENTRIES; name++)
    expect(counters.count(requests(1, `m${name}`)).isCounted).toBe(true);
  const late = requests(1, 'late');
  expect(counters.count(late)).toMatchObject({ isCounted: false, used: ENTRIES - 1, memberUsed: 150 });
  expect(counters.count(requests(1, 'm1')).used).toBe(ENTRIES);
});

test('a table of the usual size holds half as many names as it has entries, whatever they are', () => {
  const counters = new MemoryCounters(() => 0);
  for (let name = 0; name < 2 ** 15; name++) expect(counters.count(address(name)).used).toBe(1);
  for (let name = 0; name < 2 ** 15; name++) expect(counters.count(address(name)).used).toBe(2);
});

test('names of one minute, such as the tokens of links, are not kept in the next', async () => {
  // In a thread, whose memory has nothing of other tests.
  const [before = 0, withNames = 0, after = 0] = await answerOf<number[]>('kept-names', 5_000);
  expect(withNames - before).toBeGreaterThan(4_000);
  expect(after - before).toBeLessThan(1_000);
});
