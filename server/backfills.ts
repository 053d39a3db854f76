// Fills in, while the server is serving, what the database of an older crm lacks.
import { setTimeout as sleep } from 'node:timers/promises';
import type { BackfillRow, Db } from '../db/engine/schema.ts';
import type { Store } from '../db/store.ts';
import { type Filler, fillNext, isFilled, listBackfills } from '../db/tables/backfills.ts';
import { FILLERS } from '../db/tables/fillers.ts';
import { ApiError } from './errors.ts';

const LOOK_EVERY_MS = 5_000;
const RETRY_AFTER_SECONDS = 10;

/**
 * Makes sure that a part, by its name in `FILLERS`, is complete for an organization.
 * @throws ApiError 503 until it is
 */
export async function requireFilled(db: Db, orgNumber: number, name: string): Promise<void> {
  if (await isFilled(db, orgNumber, name)) return;
  const message = `The ${FILLERS[name]?.title ?? name} of your organization is still being built after an upgrade; try again later.`;
  const headers = { 'Retry-After': String(RETRY_AFTER_SECONDS) };
  throw new ApiError('DATABASE_UNAVAILABLE', message, { headers, cause: `${name} is not filled in yet` });
}

/** Fills in what is missing until it is stopped; several nodes of a database share the work. */
export class Backfills {
  readonly #store: Store;
  readonly #fillers: Readonly<Record<string, Filler>>;
  readonly #ending = new AbortController();
  readonly #running: Promise<void>;

  constructor(store: Store, fillers = FILLERS) {
    this.#store = store;
    this.#fillers = fillers;
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
      await this.#fillAll().catch(() => undefined);
      await this.#rest(LOOK_EVERY_MS);
    }
  }

  async #fillAll(): Promise<void> {
    for (const row of await listBackfills(this.#store.read)) {
      // A newer crm has parts that this one does not know.
      const filler = this.#fillers[row.name];
      if (filler !== undefined) await this.#fill(row, filler);
    }
  }

  async #fill({ org_id: orgNumber, name, total: counted }: BackfillRow, filler: Filler): Promise<void> {
    const total = counted ?? (await filler.count(this.#store.read, orgNumber));
    for (let isMore = true; isMore && !this.#ending.signal.aborted; ) {
      const startedAt = performance.now();
      isMore = await this.#store.write(orgNumber, (trx) => fillNext(trx, { orgNumber, name, total }, filler));
      // Half of the time is left to requests.
      await this.#rest(performance.now() - startedAt);
    }
  }

  async #rest(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#ending.signal }).catch(() => undefined);
  }
}
