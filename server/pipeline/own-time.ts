// Timers that do not hold it against others when this process itself was held up.

/** A timer that is this late shows that the process did not run: what arrived meanwhile has not been read yet. */
const HELD_UP_MS = 100;

/** A timer that can be cleared. */
export interface OwnTimer {
  clear(): void;
}

/**
 * Calls back after `ms` milliseconds. If the process was held up, by a machine that is too busy or paused, it first runs
 * for as long as that took, `ms` at most, so that what arrived meanwhile is read before anyone is blamed.
 */
export function afterOwnTime(ms: number, callBack: () => void): OwnTimer {
  let timer: Timer;
  const wait = (forMs: number) => {
    const dueAt = performance.now() + forMs;
    timer = setTimeout(() => {
      const lateMs = performance.now() - dueAt;
      if (lateMs > HELD_UP_MS) wait(Math.min(lateMs, ms));
      else callBack();
    }, forMs);
  };
  wait(ms);
  return { clear: () => clearTimeout(timer) };
}
