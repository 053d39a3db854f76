// Work that a server does again and again in the background, until it stops.
import { setTimeout as sleep } from 'node:timers/promises';
import { retryAfterSeconds } from '../db/store.ts';

/** What becomes of an error of work that no request waits for. */
export type ReportError = (error: unknown) => void;

/**
 * Tells each error once, with what failed. Those of a database that cannot be reached are left to the
 * requests that report them.
 */
export function errorReport(what: string, tell: (line: string) => void): ReportError {
  const told = new Set<string>();
  return (error) => {
    const message = error instanceof Error ? error.message : String(error);
    if (retryAfterSeconds(error) !== null || told.has(message)) return;
    told.add(message);
    tell(`${what} failed and will be retried: ${message}.`);
  };
}

/** Does something now and then, until it is stopped. */
export class RepeatedWork {
  readonly #ending = new AbortController();
  readonly #report: ReportError;
  readonly #running: Promise<void>;

  /** @param work looks at `isStopping` and rests between its pieces; when it fails, it begins again after `everyMs` */
  constructor(everyMs: number, report: ReportError, work: (self: RepeatedWork) => Promise<void>) {
    this.#report = report;
    this.#running = this.#run(everyMs, work);
  }

  get isStopping(): boolean {
    return this.#ending.signal.aborted;
  }

  /** Does something for each item, also after it failed for another one. */
  async forEach<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
    for (const item of items) {
      if (this.isStopping) return;
      await work(item).catch(this.#report);
    }
  }

  /** Resolves after that time, or at once when it is stopped. */
  async rest(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#ending.signal }).catch(() => undefined);
  }

  /** Resolves when the piece under way is written. */
  stop(): Promise<void> {
    this.#ending.abort();
    return this.#running;
  }

  async #run(everyMs: number, work: (self: RepeatedWork) => Promise<void>): Promise<void> {
    while (!this.isStopping) {
      await work(this).catch(this.#report);
      await this.rest(everyMs);
    }
  }
}
