// Fills in, while the server is serving, what the database of an older crm lacks.
import type { BackfillRow, Db } from '../db/engine/schema.ts';
import { FILLERS } from '../db/fillers.ts';
import type { Store } from '../db/store.ts';
import { type Filler, fillNext, isFilled, listBackfills, noteTotal } from '../db/tables/backfills.ts';
import { ApiError } from './errors.ts';
import { RepeatedWork, type ReportError } from './repeated-work.ts';

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
export function startBackfills(
  store: Store,
  report: ReportError,
  fillers: Readonly<Record<string, Filler>> = FILLERS,
): RepeatedWork {
  return new RepeatedWork(LOOK_EVERY_MS, report, async (work) => {
    const forEachKnown = (
      rows: readonly BackfillRow[],
      act: (row: BackfillRow, filler: Filler) => Promise<void>,
    ): Promise<void> =>
      work.forEach(rows, async (row) => {
        // A newer crm has parts that this one does not know.
        const filler = fillers[row.name];
        if (filler !== undefined) await act(row, filler);
      });
    const rows = await listBackfills(store.read);
    // All of them before the first is filled in: until then nobody can tell how much there is to do.
    await forEachKnown(rows, (row, filler) => countRecords(store, row, filler));
    await forEachKnown(rows, (row, filler) => fillPart(store, row, filler, work));
  });
}

async function countRecords(
  store: Store,
  { org_id: orgNumber, name, total: counted }: BackfillRow,
  filler: Filler,
): Promise<void> {
  if (counted !== null) return;
  const total = await filler.count(store.read, orgNumber);
  await store.write(orgNumber, (trx) => noteTotal(trx, { orgNumber, name }, total));
}

async function fillPart(
  store: Store,
  { org_id: orgNumber, name }: BackfillRow,
  filler: Filler,
  work: RepeatedWork,
): Promise<void> {
  for (let isMore = true; isMore && !work.isStopping; ) {
    const startedAt = performance.now();
    isMore = await store.write(orgNumber, (trx) => fillNext(trx, { orgNumber, name }, filler));
    // Half of the time is left to requests.
    await work.rest(performance.now() - startedAt);
  }
}
