// How much of a series is ingested, and how much work the rules of a whole file may be.
import { DAY_MS } from '../../input/instant.ts';

/** A series is ingested for this long: the days of it that lie nearest to today. */
export const WINDOW_DAYS = 400;
/** Both ends belong to it. */
export const SERIES_WINDOW_MS = WINDOW_DAYS * DAY_MS - 1;
export const HALF_WINDOW_MS = (WINDOW_DAYS / 2) * DAY_MS;
/** Most meetings of one series within that time. */
export const INSTANCES_MAX = 10_000;

// Of each rule: what lists every tenth of a second since the beginning is none of a meeting.
const STEPS_MAX = 200_000;
// Ten years of days. A file may have any number of rules that take no more.
const OWN_STEPS = 4_000;
// Some seconds of work.
const SHARED_STEPS = 2_000_000;
// A meeting on every day, and then some.
const OWN_INSTANCES = 500;
const SHARED_INSTANCES = 100_000;

/** What many may take: each some of its own, and all together what they share. */
class Allowance {
  readonly #own: number;
  #shared: number;

  constructor(own: number, shared: number) {
    this.#own = own;
    this.#shared = shared;
  }

  /** What the next may take at most. */
  get left(): number {
    return this.#own + this.#shared;
  }

  spend(amount: number): void {
    this.#shared -= Math.min(this.#shared, Math.max(0, amount - this.#own));
  }
}

/** Work on one file: steps that look for the dates of rules, and the meetings that these give. */
export class FileBudget {
  readonly #steps: Allowance;
  readonly #instances: Allowance;

  constructor({ steps = SHARED_STEPS, instances = SHARED_INSTANCES } = {}) {
    this.#steps = new Allowance(OWN_STEPS, steps);
    this.#instances = new Allowance(OWN_INSTANCES, instances);
  }

  /** Steps that the next rule may take, and whether the file is why they are no more. */
  get steps(): { max: number; isOfFile: boolean } {
    const { left } = this.#steps;
    return { max: Math.min(STEPS_MAX, left), isOfFile: left < STEPS_MAX };
  }

  spendSteps(count: number): void {
    this.#steps.spend(count);
  }

  /** Whether the file may have so many meetings of another series, which are then counted. */
  takeInstances(count: number): boolean {
    if (count > this.#instances.left) return false;
    this.#instances.spend(count);
    return true;
  }
}
