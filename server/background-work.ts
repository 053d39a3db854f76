// What a server does while it is serving, besides answering requests and sending webhooks.
import type { Store } from '../db/store.ts';
import { startBackfills } from './backfills.ts';
import { startIndexing } from './index-updates.ts';

/** Starts that work; `stop` resolves when what is under way is written. */
export function startBackgroundWork(store: Store): { stop(): Promise<unknown> } {
  const all = [startBackfills(store), startIndexing(store)];
  return { stop: () => Promise.all(all.map((one) => one.stop())) };
}
