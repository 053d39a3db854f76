// Brings the search index up to date: after writes, and at once for a search that comes before that.

import type { Trx } from '../db/engine/schema.ts';
import { mergeSome, mergeToRest } from '../db/search/merges.ts';
import { findPendingOrganizations, findPendingTimes, indexPending } from '../db/search/pending.ts';
import { findUnsettledOrganizations } from '../db/search/runs.ts';
import type { Store } from '../db/store.ts';
import { RepeatedWork, type ReportError } from './repeated-work.ts';

const LOOK_EVERY_MS = 500;
const LOOKS_PER_MERGE = 40;
// After that an organization that keeps writing leaves the next ones their turn.
const TURN_MS_MAX = 10_000;
// Until nobody has written for a while, what was written waits, so that a record that changes often is indexed once: but not
// for long, as a search would have to wait for it.
const QUIET_MS = 250;
const LATE_MS = 5_000;
// After each burst of writes, large runs would be written again for the sake of small ones.
const REST_EVERY_MS = 60_000;
// How many times as long as a piece took is left to others after it.
const REST = 1;
const REST_WHILE_WRITTEN = 3;
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
 * Indexes what is written once it is quiet, or has waited for long, until it is stopped; several nodes of a database share the
 * work.
 */
export function startIndexing(store: Store, report: ReportError): RepeatedWork {
  let looks = 0;
  // The organizations that have written in the last minute: whether since their runs were merged to rest, and when that may begin.
  const rests = new Map<number, { isWanted: boolean; fromMs: number }>();
  return new RepeatedWork(LOOK_EVERY_MS, report, async (work) => {
    await work.forEach(await findPendingOrganizations(store.read), async (orgNumber) => {
      await inPieces(store, orgNumber, work, indexPending);
      await inPieces(store, orgNumber, work, mergeSome);
      rests.getOrInsertComputed(orgNumber, () => ({ isWanted: true, fromMs: 0 })).isWanted = true;
    });
    await work.forEach(rests, async ([orgNumber, rest]) => {
      if (performance.now() < rest.fromMs) return;
      if (!rest.isWanted) rests.delete(orgNumber);
      else if (await inPieces(store, orgNumber, work, mergeToRest))
        rests.set(orgNumber, { isWanted: false, fromMs: performance.now() + REST_EVERY_MS });
    });
    if (looks++ % LOOKS_PER_MERGE > 0) return;
    await work.forEach(await findUnsettledOrganizations(store.read), async (orgNumber) => {
      await inPieces(store, orgNumber, work, mergeSome);
    });
  });
}

// Returns whether there is nothing more to do.
async function inPieces(
  store: Store,
  orgNumber: number,
  work: RepeatedWork,
  piece: (trx: Trx, orgNumber: number) => Promise<boolean>,
): Promise<boolean> {
  const endsAt = performance.now() + TURN_MS_MAX;
  for (let isMore = true; isMore; ) {
    if (work.isStopping || performance.now() > endsAt) return false;
    const { isWritten, isLate } = await stateOf(store, orgNumber);
    if (isWritten && !isLate) return false;
    const startedAt = performance.now();
    isMore = await store.write(orgNumber, (trx) => piece(trx, orgNumber));
    await work.rest((performance.now() - startedAt) * (isWritten ? REST_WHILE_WRITTEN : REST));
  }
  return true;
}

async function stateOf({ read }: Store, orgNumber: number): Promise<{ isWritten: boolean; isLate: boolean }> {
  const { first, last } = await findPendingTimes(read, orgNumber);
  const now = Date.now();
  return { isWritten: now - last < QUIET_MS, isLate: now - first > LATE_MS };
}
