// What the pipeline works with, made once for an app.
import type { Store } from '../db/store.ts';
import type { Access } from './access.ts';
import type { Cursors } from './cursor.ts';
import type { Authenticator } from './pipeline/credential.ts';
import type { Exchange } from './pipeline/exchange.ts';
import type { RateLimiter } from './pipeline/rate-limit.ts';
import type { Replays } from './pipeline/replay.ts';
import type { TranscriptLinks } from './transcript-links.ts';

/** What the pipeline works with. */
export interface Services {
  store: Store;
  cursors: Cursors;
  transcriptLinks: TranscriptLinks;
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
