// A thread that adds to sums in memory it shares with others, and takes away again what it added.
import { MemorySums } from '../../db/counters/memory-sums.ts';

export interface Adding {
  memory: SharedArrayBuffer;
  names: number;
  turns: number;
}

declare const self: Worker;

self.onmessage = ({ data: { memory, names, turns } }: MessageEvent<Adding>) => {
  const sums = new MemorySums(memory);
  for (let turn = 0; turn < 2 * turns; turn++) {
    sums.lock.enter();
    sums.add(0, Math.floor(turn / 2) % names, turn % 2 === 0 ? 1 : -1);
    sums.add(1, 'all', turn % 2);
    sums.lock.leave();
  }
  self.postMessage('done');
};
