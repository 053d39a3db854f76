// The time that a stop leaves to webhooks and backfills, which would wait on for a database that answers nothing.
import { DRAIN_MS_MAX } from './listener.ts';

const WORK_MS_MAX = 5_000;
// The rest is for storing what came of what was under way.
const GRACE_SHARE = 0.6;

export class StopTime {
  #endsAt: number | null = null;

  /** Notes that the stop has begun; returns when it must be over, by `performance.now()`. */
  begin(): number {
    this.#endsAt ??= performance.now() + DRAIN_MS_MAX;
    return this.#endsAt;
  }

  /**
   * Waits for work to stop, but not until its end if that takes too long: what is not stored is done again later.
   * @param stop receives for how many milliseconds it can wait for what is under way
   */
  async limit(stop: (graceMs: number) => Promise<unknown>): Promise<void> {
    const ms = Math.max(0, Math.min(WORK_MS_MAX, this.begin() - performance.now()));
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    await Promise.race([stop(ms * GRACE_SHARE), late]);
    clearTimeout(timer);
  }
}
