// The runs of the search index of an organization: which there are, and what becomes of them.

import { bulkInsert } from '../engine/bulk-insert.ts';
import type { Db, Trx } from '../engine/schema.ts';
import type { SearchRunRow } from '../engine/search-rows.ts';
import { statement } from '../engine/statement.ts';
import { placeOfBytes, type SearchPlace } from './places.ts';

const ofOrganization = statement<SearchRunRow>((db, param) =>
  db.selectFrom('search_runs').selectAll().where('org_id', '=', param('org')),
);

/** All runs of an organization, the newest first. */
export async function findRuns(db: Db, orgNumber: number): Promise<SearchRunRow[]> {
  const rows = await ofOrganization(db, { org: orgNumber });
  return rows.toSorted((one, other) => other.age - one.age);
}

/** A run that searches read. */
export interface Run {
  run: number;
  low: SearchPlace;
  high: SearchPlace;
  /** Differs from that of any other run which had the number; null if it was not asked for. */
  version: string | null;
}

/** Whether searches read a run. */
export function isLive({ is_built, gone_at }: SearchRunRow): boolean {
  return is_built === 1 && gone_at === null;
}

/** Those that searches read, the newest first. */
export async function findLiveRuns(db: Db, orgNumber: number): Promise<Run[]> {
  return runsInOrder((await findRuns(db, orgNumber)).filter(isLive));
}

/** What tells where a run is, and which it is. */
export type RunPlaces = Pick<SearchRunRow, 'run' | 'age' | 'low' | 'high'> & { version?: string | null };

/** Runs in the order in which they are read. */
export function runsInOrder(rows: readonly RunPlaces[]): Run[] {
  const inOrder = rows.toSorted((one, other) => other.age - one.age);
  return inOrder.map(({ run, low, high, version = null }) => ({
    ...{ run, low: placeOfBytes(low), high: placeOfBytes(high), version },
  }));
}

/** The `gone_at` of a run whose rows are being removed, so that a search which is under way begins again. */
export const GIVEN_UP = 0;

/** Whether all rows of these runs are still there. */
export async function areThere(db: Db, orgNumber: number, runs: readonly Run[]): Promise<boolean> {
  const rows = await ofOrganization(db, { org: orgNumber });
  const there = new Set(rows.filter(({ gone_at }) => gone_at !== GIVEN_UP).map(({ run }) => run));
  return runs.every(({ run }) => there.has(run));
}

const COLUMNS = [
  ...['org_id', 'run', 'age', 'bytes', 'removals', 'low', 'high'],
  ...['is_built', 'done', 'merged_into', 'gone_at'],
];
const insert = bulkInsert('search_runs', COLUMNS);

/** Adds a run. */
export async function insertRun(trx: Trx, run: SearchRunRow): Promise<void> {
  await insert(trx, [{ ...run }]);
}

/** The number of the next run. */
export function nextNumber(runs: readonly SearchRunRow[]): number {
  return runs.reduce((max, { run }) => Math.max(max, run), 0) + 1;
}

const change = statement<never>((db, param) =>
  db
    .updateTable('search_runs')
    .set({
      bytes: param('bytes'),
      removals: param('removals'),
      is_built: param('is_built'),
      done: param('done'),
      merged_into: param('merged_into'),
      gone_at: param('gone_at'),
    })
    .where('org_id', '=', param('org'))
    .where('run', '=', param('run')),
);

/** Changes a run. */
export async function changeRun(
  trx: Trx,
  run: SearchRunRow,
  changes: Partial<Omit<SearchRunRow, 'org_id' | 'run' | 'age' | 'low' | 'high'>>,
): Promise<void> {
  await change(trx, { ...run, ...changes, org: run.org_id });
}

/** Gives up all runs, whose rows are then removed. */
export async function endRuns(trx: Trx, orgNumber: number): Promise<void> {
  for (const run of await findRuns(trx, orgNumber))
    await changeRun(trx, run, { is_built: 1, gone_at: GIVEN_UP });
}

const removal = statement<never>((db, param) =>
  db.deleteFrom('search_runs').where('org_id', '=', param('org')).where('run', '=', param('run')),
);

/** Forgets a run that has no rows. */
export async function removeRun(trx: Trx, orgNumber: number, run: number): Promise<void> {
  await removal(trx, { org: orgNumber, run });
}

const unsettled = statement<{ org_id: number }>((db) =>
  db
    .selectFrom('search_runs')
    .select('org_id')
    .distinct()
    .where((eb) => eb.or([eb('merged_into', 'is not', null), eb('gone_at', 'is not', null)])),
);

/** The organizations that have runs which are being merged, or were. */
export async function findUnsettledOrganizations(db: Db): Promise<number[]> {
  return (await unsettled(db, {})).map(({ org_id }) => org_id);
}
