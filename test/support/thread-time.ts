// What this thread alone has computed, to the nanosecond: other processes and threads do not count.
import { dlopen, ptr } from 'bun:ffi';

// Of Linux. Bun's `process.threadCpuUsage` counts in ticks of 4 ms.
const CLOCK_THREAD_CPUTIME_ID = 3;
const LIBC = 'libc.so.6';

function openClock(): () => number {
  if (process.platform !== 'linux') return () => performance.now();
  const { symbols } = dlopen(LIBC, { clock_gettime: { args: ['i32', 'ptr'], returns: 'i32' } });
  const time = new BigInt64Array(2);
  return () => {
    symbols.clock_gettime(CLOCK_THREAD_CPUTIME_ID, ptr(time));
    const [seconds = 0n, nanoseconds = 0n] = time;
    return Number(seconds) * 1e3 + Number(nanoseconds) / 1e6;
  };
}

/** Milliseconds of CPU time that this thread has taken since it began; elsewhere than on Linux the time of day. */
export const threadMs = openClock();
