// Timeouts that do not blame a client or a database for a stall of this process.

/** A timer that is this late shows a stall: what arrived meanwhile has not been read yet. */
const STALL_MS = 100;

/** A running timeout. */
export interface StallTolerantTimeout {
  clear(): void;
}

/**
 * Calls back after `ms` milliseconds. If the process stalled meanwhile, because its machine was too busy or paused, it waits
 * for as long again as the stall took, `ms` at most, so that what arrived is read first.
 */
export function setStallTolerantTimeout(callBack: () => void, ms: number): StallTolerantTimeout {
  let timer: Timer;
  const wait = (forMs: number) => {
    const dueAt = performance.now() + forMs;
    timer = setTimeout(() => {
      const lateMs = performance.now() - dueAt;
      if (lateMs > STALL_MS) wait(Math.min(lateMs, ms));
      else callBack();
    }, forMs);
  };
  wait(ms);
  return { clear: () => clearTimeout(timer) };
}
