// Limits: how much of a series is ingested, and how much work the rules of a file may cause.
import { DAY_MS } from '../../input/instant.ts';

/** How many days of a series are ingested: those closest to today. */
export const WINDOW_DAYS = 400;
/** Both ends are included. */
export const SERIES_WINDOW_MS = WINDOW_DAYS * DAY_MS - 1;
export const HALF_WINDOW_MS = (WINDOW_DAYS / 2) * DAY_MS;
/** Maximum number of meetings of one series within this time. */
export const INSTANCES_MAX = 10_000;

// For each rule: one with an occurrence every tenth of a second is not a meeting.
const STEPS_MAX = 200_000;
// Ten years of days. A file may have any number of rules that need at most this.
const OWN_STEPS = 4_000;
// Some seconds of work.
const SHARED_STEPS = 2_000_000;
// More than a meeting on every day.
const OWN_INSTANCES = 500;
const SHARED_INSTANCES = 100_000;

/**
 * The work on one file: steps to find the dates of rules, and the resulting meetings. Each rule and each series has its
 * own part, and all share the rest.
 */
export class FileBudget {
  #steps: number;
  #instances: number;

  constructor({ steps = SHARED_STEPS, instances = SHARED_INSTANCES } = {}) {
    this.#steps = steps;
    this.#instances = instances;
  }

  /** Steps that the next rule may take, and whether the limit of the file reduces them. */
  get steps(): { max: number; isOfFile: boolean } {
    const left = OWN_STEPS + this.#steps;
    return { max: Math.min(STEPS_MAX, left), isOfFile: left < STEPS_MAX };
  }

  spendSteps(count: number): void {
    this.#steps -= Math.min(this.#steps, Math.max(0, count - OWN_STEPS));
  }

  /** Whether the file may have this many more meetings, which then count. */
  takeInstances(count: number): boolean {
    if (count > OWN_INSTANCES + this.#instances) return false;
    this.#instances -= Math.max(0, count - OWN_INSTANCES);
    return true;
  }
}
