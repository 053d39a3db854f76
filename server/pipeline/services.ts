// The parts the pipeline works with, made once per app.
import type { ReadStore } from '../../db/store.ts';
import type { Access } from '../access.ts';
import type { HeldRequests } from '../quotas/held-requests.ts';
import type { InFlightBudget } from '../quotas/in-flight-budget.ts';
import type { Cursors } from '../signing/cursors.ts';
import type { BodyTimeouts } from './body-timeouts.ts';
import type { Authenticator } from './credential.ts';
import type { Exchange } from './exchange.ts';
import type { Executor } from './execute.ts';
import type { ExportAudit } from './export-audit.ts';
import type { FairTurns } from './fair-turns.ts';
import type { GarbageCollector } from './garbage-collection.ts';
import type { RateLimiter } from './rate-limit.ts';
import type { Replays } from './replay.ts';
import type { UnsentResponses } from './unsent-responses.ts';

/** The parts the pipeline works with. */
export interface Services {
  store: ReadStore;
  executor: Executor;
  exportAudit: ExportAudit;
  cursors: Cursors;
  authenticator: Authenticator;
  limiter: RateLimiter;
  bodies: InFlightBudget;
  bodyTimeouts: BodyTimeouts;
  garbage: GarbageCollector;
  /** Signals that the server is about to stop. */
  ending: AbortSignal | undefined;
  answers: InFlightBudget;
  held: HeldRequests;
  /** How often the key of a stream is looked at again, in milliseconds. */
  lookEveryMs: number;
  /** Signals that a request must no longer be held open, because its client should go to another server. */
  releaseOf: (request: Request) => AbortSignal;
  unsent: UnsentResponses;
  fairTurns: FairTurns;
  replays: Replays;
  baseUrl: () => string;
  now: () => number;
  /** Whether request times are measured. */
  isTimed: boolean;
  /** Closes the connection of a request after this many seconds of silence; 0 means never. */
  limitSilence: (request: Request, seconds: number) => void;
  addressOf: (request: Request) => string;
  isLogged: boolean;
  noteUse: (access: Access, now: number) => void;
  /** Reports a response to the log and to the metrics. */
  logRequest: (exchange: Exchange, status: number) => void;
  logFailure: (exchange: Exchange, cause: unknown) => void;
}
