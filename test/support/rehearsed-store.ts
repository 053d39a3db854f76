// A store that runs every job, undoes what it did, and runs it again: a job does nothing but to the database.

import type { Trx } from '../../db/engine/schema.ts';
import { withSavepoint } from '../../db/engine/transaction.ts';
import type { Store } from '../../db/store.ts';

class Undone extends Error {}

/** The store, with each job that writes run at least twice for the one time that counts. */
export function rehearsed(store: Store): Store {
  return {
    ...store,
    write: (scope, job) => store.write(scope, (trx) => runTwice(trx, job)),
  };
}

async function runTwice<T>(trx: Trx, job: (trx: Trx) => Promise<T>): Promise<T> {
  const { progress } = trx.engine;
  const before = progress.writes;
  try {
    return await withSavepoint(trx, async () => {
      const result = await job(trx);
      if (progress.writes === before) return result;
      throw new Undone();
    });
  } catch (error) {
    if (!(error instanceof Undone)) throw error;
  }
  return job(trx);
}
