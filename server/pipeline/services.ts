// What the pipeline works with, made once for an app.
import type { Store } from '../../db/store.ts';
import type { Access } from '../access.ts';
import type { Cursors } from '../cursor.ts';
import type { Authenticator } from './credential.ts';
import type { Exchange } from './exchange.ts';
import type { RateLimiter } from './rate-limit.ts';
import type { Replays } from './replay.ts';

/** What the pipeline works with. */
export interface Services {
  store: Store;
  cursors: Cursors;
  authenticator: Authenticator;
  limiter: RateLimiter;
  replays: Replays;
  baseUrl: () => string;
  now: () => number;
  addressOf: (request: Request) => string;
  noteUse: (access: Access, now: number) => void;
  logRequest: (exchange: Exchange, status: number) => void;
  logFailure: (exchange: Exchange, cause: unknown) => void;
}
