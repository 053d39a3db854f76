// Brings the search index up to date: soon after writes, and at once for a search that comes before.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../db/store.ts';
import { findPendingOrganizations, indexPending } from '../db/tables/search-pending.ts';

const LOOK_EVERY_MS = 1_000;

/** Updates of the search index that requests wait for. */
export class IndexUpdates {
  readonly #store: Pick<Store, 'write'>;
  readonly #underWay = new Map<number, Promise<void>>();

  constructor(store: Pick<Store, 'write'>) {
    this.#store = store;
  }

  /** Indexes what an organization has written by now. Those who ask at the same time wait together. */
  update(orgNumber: number): Promise<void> {
    return this.#underWay.getOrInsertComputed(orgNumber, () =>
      this.#indexAll(orgNumber).finally(() => this.#underWay.delete(orgNumber)),
    );
  }

  async #indexAll(orgNumber: number): Promise<void> {
    for (let isMore = true; isMore; )
      isMore = await this.#store.write(orgNumber, (trx) => indexPending(trx, orgNumber));
  }
}

/** Indexes what is written, a second later at most, until it is stopped; several nodes of a database share the work. */
export class Indexing {
  readonly #store: Store;
  readonly #ending = new AbortController();
  readonly #running: Promise<void>;

  constructor(store: Store) {
    this.#store = store;
    this.#running = this.#run();
  }

  /** Resolves when the piece under way is written. */
  stop(): Promise<void> {
    this.#ending.abort();
    return this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      // What fails now continues at the next look; requests that write report the same problem.
      await this.#indexAll().catch(() => undefined);
      await this.#rest(LOOK_EVERY_MS);
    }
  }

  async #indexAll(): Promise<void> {
    for (const orgNumber of await findPendingOrganizations(this.#store.read))
      for (let isMore = true; isMore && !this.#ending.signal.aborted; ) {
        const startedAt = performance.now();
        isMore = await this.#store.write(orgNumber, (trx) => indexPending(trx, orgNumber));
        // Half of the time is left to requests.
        await this.#rest(performance.now() - startedAt);
      }
  }

  async #rest(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#ending.signal }).catch(() => undefined);
  }
}
