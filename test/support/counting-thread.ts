// A thread that counts in memory it shares with others, by a clock they share too, and reports what it counted.
import { type RateLimitEvent, WINDOW_MS } from '../../db/counters/counters.ts';
import { MemoryCounters } from '../../db/counters/memory-counters.ts';

export interface Counting {
  memory: SharedArrayBuffer;
  /** One number: how often was counted so far, by all. */
  turns: SharedArrayBuffer;
  turnsPerMinute: number;
  minutes: number;
  counted: readonly RateLimitEvent[];
}

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<Counting>) => {
  const { memory, turnsPerMinute, minutes, counted } = data;
  const turns = new Int32Array(data.turns);
  const last = minutes * turnsPerMinute - 1;
  const minuteNow = () => Math.min(Atomics.load(turns, 0), last) / turnsPerMinute;
  const counters = new MemoryCounters(() => Math.floor(minuteNow() * WINDOW_MS), memory);
  const told: string[] = [];
  for (let turn = 0; turn < last; turn = Atomics.add(turns, 0, 1)) {
    const index = turn % counted.length;
    for (const one of counted.slice(index, index + 1)) {
      const { isCounted, minute, used, memberUsed } = counters.count(one);
      if (isCounted) told.push([minute, one.group, used, index, memberUsed].join(' '));
    }
  }
  self.postMessage(told);
};
