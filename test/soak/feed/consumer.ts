// A program that knows only HTTP and keeps an exact copy, whatever happens to the servers.
import { ChangeMirror, FeedRefusal, listsOf } from '../../support/change-mirror.ts';
import { Unavailable } from '../../support/http-client.ts';
import type { Client } from '../../support/v2.ts';

const PAUSE_MS = 50;
const TOO_OLD = 422;

export class Consumer {
  /** How often it had to copy everything. */
  copies = 0;
  /** Changes that it has read. */
  changes = 0;
  /** Requests that got no response. */
  failures = 0;
  readonly #client: Client;
  readonly #mirror: ChangeMirror;
  readonly #waitSeconds: number;
  #isOver = false;
  #running: Promise<void> = Promise.resolve();

  /**
   * @param isOfUser whether the client's key is bound to a user
   * @param waitSeconds how long a request waits for changes; with 0 the consumer polls
   */
  constructor(client: Client, isOfUser: boolean, waitSeconds = 0) {
    this.#client = client;
    this.#waitSeconds = waitSeconds;
    this.#mirror = new ChangeMirror(client, isOfUser, () => {
      this.changes += 1;
    });
  }

  /** Copies everything, then follows until it is ended. */
  async start(): Promise<void> {
    await this.#copy();
    this.#running = this.#run();
    // It is awaited at the end.
    this.#running.catch(() => undefined);
  }

  /** Follows to the end of the feed, to which nobody adds any more, and compares the copy with all lists. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#running;
    await this.#step();
    await this.#mirror.expectSame(listsOf(this.#client));
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      await this.#step(this.#waitSeconds);
      if (this.#waitSeconds === 0) await Bun.sleep(PAUSE_MS);
    }
  }

  async #step(waitSeconds = 0): Promise<void> {
    try {
      await this.#again(() => this.#mirror.follow(waitSeconds));
    } catch (error) {
      if (!(error instanceof FeedRefusal) || error.status !== TOO_OLD) throw error;
      await this.#copy();
      await this.#again(() => this.#mirror.follow());
    }
  }

  async #copy(): Promise<void> {
    await this.#again(() => this.#mirror.copy(listsOf(this.#client)));
    this.copies += 1;
  }

  // Until there is a server that responds.
  async #again(work: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
        this.failures += 1;
        await Bun.sleep(PAUSE_MS);
      }
    }
  }
}
