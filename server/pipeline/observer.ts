// Who is told of what becomes of requests, to count it; where nobody is, a request takes no notice of that.
import type { Answer, Operation } from '../operation.ts';
import type { InFlightBudget } from '../quotas/in-flight-budget.ts';
import type { Exchange } from './exchange.ts';
import type { RateLimiter } from './rate-limit.ts';

/** What requests share, that can tell how it stands. */
export interface Shared {
  limiter: RateLimiter;
  bodies: InFlightBudget;
  answers: InFlightBudget;
}

export interface Observer {
  /** Comes once, before any request. */
  watch(shared: Shared): void;
  /** Comes with each answer of the interface. */
  answered(exchange: Exchange, status: number): void;
}

/** Is told what was written, once that is durable, by whoever carries it out. */
export interface WriteObserver {
  wrote(operation: Operation, answer: Answer): void;
}
