// Parts of the database that derive from records, filled in piece by piece where an older crm wrote the records.

import type { BackfillRow, Db, Trx } from '../engine/schema.ts';
import { statement } from '../engine/statement.ts';

/** Fills in a part of the database from the records of an organization that were there before the part was. */
export interface Filler {
  /** What clients and operators call the part, such as `search index`. */
  title: string;
  /** The number of records to read, about. */
  count(db: Db, orgNumber: number): Promise<number>;
  /**
   * Fills in a piece, of which others wait for no more than about 20 ms. Records can be written between two pieces, and fill
   * in their own share: a piece must accept what is there already.
   * @param place where the previous piece ended; null for the first
   */
  fill(trx: Trx, orgNumber: number, place: string | null): Promise<FilledPiece>;
}

export interface FilledPiece {
  /** Where the next piece begins; null if this was the last. */
  place: string | null;
  /** Number of records that it read. */
  records: number;
}

const unfilled = statement<{ org_id: number }>((db, param) =>
  db
    .selectFrom('backfills')
    .select('org_id')
    .where('org_id', '=', param('org'))
    .where('name', '=', param('name')),
);

/** Whether a part is complete for an organization. */
export async function isFilled(db: Db, orgNumber: number, name: string): Promise<boolean> {
  return (await unfilled(db, { org: orgNumber, name })).length === 0;
}

/** What is not complete yet, in a fixed order. */
export function listBackfills(db: Db): Promise<BackfillRow[]> {
  return db.selectFrom('backfills').selectAll().orderBy('org_id').orderBy('name').execute();
}

/** How far the filling in of a part is, over all organizations that wait for it. */
export interface BackfillProgress {
  organizations: number;
  records: number;
  /** The number of records to read, about; null until each organization's are counted. */
  total: number | null;
}

/** How far each part is that is not complete, by its name. */
export async function sumBackfills(db: Db): Promise<Map<string, BackfillProgress>> {
  const sums = new Map<string, BackfillProgress>();
  for (const { name, records, total } of await listBackfills(db)) {
    const sum = sums.getOrInsert(name, { organizations: 0, records: 0, total: 0 });
    sum.organizations += 1;
    sum.records += records;
    sum.total = sum.total === null || total === null ? null : sum.total + total;
  }
  return sums;
}

/** Notes that a part must be filled in for an organization, from the beginning. */
export async function beginBackfill(trx: Trx, orgNumber: number, name: string): Promise<void> {
  await deleteRow(trx, orgNumber, name);
  await trx
    .insertInto('backfills')
    .values({ org_id: orgNumber, name, place: null, records: 0, total: null })
    .execute();
}

/** Notes how many records are to be read for an organization, about. */
export async function noteTotal(
  trx: Trx,
  { orgNumber, name }: { orgNumber: number; name: string },
  total: number,
): Promise<void> {
  const rows = trx.updateTable('backfills').where('org_id', '=', orgNumber).where('name', '=', name);
  await rows.set({ total }).execute();
}

/** Fills in the next piece for an organization, wherever another process has brought it; returns whether there is more. */
export async function fillNext(
  trx: Trx,
  { orgNumber, name }: { orgNumber: number; name: string },
  filler: Filler,
): Promise<boolean> {
  const row = await trx
    .selectFrom('backfills')
    .selectAll()
    .where('org_id', '=', orgNumber)
    .where('name', '=', name)
    .executeTakeFirst();
  if (row === undefined) return false;
  const { place, records } = await filler.fill(trx, orgNumber, row.place);
  await deleteRow(trx, orgNumber, name);
  if (place === null) return false;
  const read = { place, records: row.records + records, total: row.total };
  await trx
    .insertInto('backfills')
    .values({ org_id: orgNumber, name, ...read })
    .execute();
  return true;
}

async function deleteRow(trx: Trx, orgNumber: number, name: string): Promise<void> {
  await trx.deleteFrom('backfills').where('org_id', '=', orgNumber).where('name', '=', name).execute();
}
