// Brings the search index up to date: after writes, and at once for a search that comes before that.
import type { Store } from '../db/store.ts';
import { findLastPending, findPendingOrganizations, indexPending } from '../db/tables/search-pending.ts';
import { RepeatedWork } from './repeated-work.ts';

const LOOK_EVERY_MS = 1_000;
// While others write, this part of the time is left to them; later, half of it.
const REST_WHILE_WRITTEN = 19;
const REST_LATER = 1;
const QUIET_MS = 1_000;
// Then those who wait look whether it is enough for them.
const UPDATE_MS_MAX = 1_000;

/** Updates of the search index that requests wait for. */
export class IndexUpdates {
  readonly #store: Pick<Store, 'write'>;
  readonly #underWay = new Map<number, Promise<void>>();

  constructor(store: Pick<Store, 'write'>) {
    this.#store = store;
  }

  /** Indexes what an organization has written, for a second at most. Those who ask at the same time wait together. */
  update(orgNumber: number): Promise<void> {
    return this.#underWay.getOrInsertComputed(orgNumber, () =>
      this.#index(orgNumber).finally(() => this.#underWay.delete(orgNumber)),
    );
  }

  async #index(orgNumber: number): Promise<void> {
    const endsAt = performance.now() + UPDATE_MS_MAX;
    for (let isMore = true; isMore && performance.now() < endsAt; )
      isMore = await this.#store.write(orgNumber, (trx) => indexPending(trx, orgNumber));
  }
}

/**
 * Indexes what is written, while others write a little at a time, until it is stopped; several nodes of a database share the
 * work.
 */
export function startIndexing(store: Store): RepeatedWork {
  return new RepeatedWork(LOOK_EVERY_MS, async (work) => {
    for (const orgNumber of await findPendingOrganizations(store.read))
      for (let isMore = true; isMore && !work.isStopping; ) {
        const startedAt = performance.now();
        isMore = await store.write(orgNumber, (trx) => indexPending(trx, orgNumber));
        const isQuiet = Date.now() - (await findLastPending(store.read, orgNumber)) > QUIET_MS;
        await work.rest((performance.now() - startedAt) * (isQuiet ? REST_LATER : REST_WHILE_WRITTEN));
      }
  });
}
