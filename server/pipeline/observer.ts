// Interfaces for counting requests and writes; without an observer nothing is measured.
import type { Answer, Operation } from '../operation.ts';
import type { HeldRequests } from '../quotas/held-requests.ts';
import type { InFlightBudget } from '../quotas/in-flight-budget.ts';
import type { Exchange } from './exchange.ts';
import type { RateLimiter } from './rate-limit.ts';

/** State that all requests share and that can be measured. */
export interface SharedLimits {
  limiter: RateLimiter;
  bodies: InFlightBudget;
  answers: InFlightBudget;
  held: HeldRequests;
}

export interface Observer {
  /** Called once, before any request. */
  watch(shared: SharedLimits): void;
  /** Called for each API response. */
  responded(exchange: Exchange, status: number): void;
}

/** Receives what was written, once durable. */
export interface WriteObserver {
  wrote(operation: Operation, answer: Answer): void;
}
