// Timeouts that do not blame a client or a database for a stall of this process.

/** A timer that is this late shows a stall: what arrived meanwhile has not been read yet. */
const STALL_MS = 100;

/** Long enough for the event loop to read what has arrived, and to run the other timers that are due. */
const TURN_MS = 20;

/** A running timeout. */
export interface StallTolerantTimeout {
  clear(): void;
}

/**
 * Calls back after `ms` milliseconds, and a turn of the event loop in which what arrived just before is read. If the process
 * stalled meanwhile, because its machine was too busy or paused, it waits for as long again as the stall took, `ms` at most.
 */
export function setStallTolerantTimeout(callBack: () => void, ms: number): StallTolerantTimeout {
  let timer: Timer;
  const wait = (forMs: number, isLast: boolean) => {
    const dueAt = performance.now() + forMs;
    timer = setTimeout(() => {
      const lateMs = performance.now() - dueAt;
      if (lateMs > STALL_MS) wait(Math.min(lateMs, ms), false);
      else if (isLast) callBack();
      else wait(TURN_MS, true);
    }, forMs);
  };
  wait(ms, false);
  return { clear: () => clearTimeout(timer) };
}
