// How many requests a service of a test holds open.
import type { Observer, SharedLimits } from '../../server/pipeline/observer.ts';
import type { HeldRequests } from '../../server/quotas/held-requests.ts';
import { until } from './until.ts';

/** Knows it of the service whose observer it is. */
export class HeldPlaces implements Observer {
  #held: HeldRequests | null = null;

  watch({ held }: SharedLimits): void {
    this.#held = held;
  }

  responded(): void {}

  /** Resolves once so many requests wait for changes. */
  waiting(count: () => number): Promise<void> {
    const waits = () => this.#held?.stats().wait;
    return until(
      () => waits() === count(),
      () => `${waits()} requests wait, not ${count()}`,
    );
  }
}
