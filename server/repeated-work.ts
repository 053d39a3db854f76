// Work that a server does again and again in the background, until it stops.
import { setTimeout as sleep } from 'node:timers/promises';

/** Does something now and then, until it is stopped. */
export class RepeatedWork {
  readonly #ending = new AbortController();
  readonly #running: Promise<void>;

  /** @param work looks at `isStopping` and rests between its pieces; when it fails, it begins again after `everyMs` */
  constructor(everyMs: number, work: (self: RepeatedWork) => Promise<void>) {
    this.#running = this.#run(everyMs, work);
  }

  get isStopping(): boolean {
    return this.#ending.signal.aborted;
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
      // Requests that write report the same problem.
      await work(this).catch(() => undefined);
      await this.rest(everyMs);
    }
  }
}
