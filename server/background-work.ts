// What a server does while it is serving, besides answering requests and sending webhooks.
import type { Store } from '../db/store.ts';
import { startBackfills } from './backfills.ts';
import { startIndexing } from './index-updates.ts';
import { type PurgeOptions, startPurging } from './purge.ts';
import { errorReport } from './repeated-work.ts';

/** Starts that work; `stop` resolves when what is under way is written. */
export function startBackgroundWork(
  store: Store,
  options: PurgeOptions,
  tell: (line: string) => void,
): { stop(): Promise<unknown> } {
  const all = [
    startBackfills(store, errorReport('Filling in data after the upgrade', tell)),
    startIndexing(store, errorReport('Updating the search index', tell)),
    startPurging(store, options, errorReport('Removing expired data', tell)),
  ];
  return { stop: () => Promise.all(all.map((one) => one.stop())) };
}
