// A thread that counts names, and reports how many strings it has: at first, with the names, and in the next minute.
import { heapStats } from 'bun:jsc';
import { type RateLimitEvent, WINDOW_MS } from '../../db/counters/counters.ts';
import { MemoryCounters } from '../../db/counters/memory-counters.ts';

declare const self: Worker;

const address = (name: number): RateLimitEvent => ({
  what: 'wrong_keys',
  group: `address-${name}`,
  limit: 3,
});

function stringsKept(): number {
  Bun.gc(true);
  return heapStats().objectTypeCounts.string ?? 0;
}

self.onmessage = ({ data: names }: MessageEvent<number>) => {
  let now = 0;
  const counters = new MemoryCounters(() => now);
  counters.count(address(0));
  const before = stringsKept();
  for (let name = 1; name <= names; name++) counters.count(address(name));
  const withNames = stringsKept();
  now += WINDOW_MS;
  // The first request of a minute still finds the last one.
  for (let time = 0; time < 2; time++) counters.count(address(0));
  self.postMessage([before, withNames, stringsKept()]);
};
