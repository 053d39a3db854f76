// Records by id: insert, find and update, the same for every resource, compiled once for each.

import { sql } from 'kysely';
import { memoize } from '../cache.ts';
import { logCreated } from '../changes/changes.ts';
import { type BulkInsert, bulkInsert } from '../engine/bulk-insert.ts';
import type { ChangeContext } from '../engine/change-log.ts';
import { andThen, type Eventually, inTurn } from '../engine/engine.ts';
import { chargeQuota } from '../engine/quota.ts';
import {
  type Db,
  type RecordKey,
  type RecordRow,
  type RecordTrx,
  type Trx,
  tableOf,
} from '../engine/schema.ts';
import { type Lookup, lookup } from '../engine/statement.ts';
import { mapInTurns } from '../event-loop.ts';
import type { Data } from '../model/json.ts';
import { storedRow } from '../model/record-forms.ts';
import type { Resource } from '../model/resource.ts';
import { noteNewRecords } from '../search/notes.ts';
import { columnsOf } from '../tables/columns.ts';
import { bytesOf } from '../tables/content-bytes.ts';
import { longTexts, PageSizeLimit } from '../tables/page-size.ts';
import { recordId } from '../tables/record-id.ts';
import { showsByItself } from '../timeline/places.ts';
import { showCreated } from '../timeline/writes.ts';

interface Statements {
  insert: BulkInsert;
  find: Lookup<RecordRow>;
}

const statementsOf = memoize((resource: Resource): Statements => {
  const insert = bulkInsert(tableOf(resource), ['org_id', ...resource.storedColumns]);
  return { insert, find: finderOf(resource) };
});

function finderOf(resource: Resource, unseen?: readonly string[]): Lookup<RecordRow> {
  return lookup<RecordRow>((db, param, isGiven) =>
    db
      .selectFrom(tableOf(resource))
      .select(columnsOf(resource, undefined, unseen))
      .$castTo<RecordRow>()
      .where('org_id', '=', param('org'))
      .where(isGiven(sql.ref('id'))),
  );
}

// By the fields that they leave out, joined.
const finders = memoize((_: Resource) => new Map<string, Lookup<RecordRow>>());

/** The organization, the creator and the time of a record. */
export interface Provenance {
  orgNumber: number;
  createdBy: string;
  /** Unix milliseconds. */
  now: number;
}

/** A record to be inserted, and its place in the log if that is given. */
export interface NewRecord extends Provenance, Pick<ChangeContext, 'cause' | 'sequence'> {
  /** Its fields; missing ones get their defaults. */
  data: Data;
}

/**
 * Inserts a new record and returns its row.
 * @throws QuotaError
 */
export async function insertRecord(
  trx: RecordTrx,
  resource: Resource,
  record: NewRecord,
): Promise<RecordRow> {
  await reserveQuota(trx, record.orgNumber, [{ resource, data: record.data }]);
  return insertReservedRecord(trx, resource, record);
}

/**
 * Counts records that will be inserted together; call it before inserting.
 * @throws QuotaError if the organization cannot hold them as well
 */
export function reserveQuota(
  trx: Trx,
  orgNumber: number,
  records: readonly { resource: Resource; data: Data }[],
): Eventually<void> {
  return chargeQuota(trx, orgNumber, () => ({
    records: records.length,
    bytes: records.reduce((sum, { resource, data }) => sum + bytesOf(resource, data), 0),
  }));
}

/** Inserts a new record that was counted, and returns its row. */
export async function insertReservedRecord(
  trx: RecordTrx,
  resource: Resource,
  record: NewRecord,
): Promise<RecordRow> {
  const { data, cause, sequence, ...origin } = record;
  const row = newRow(resource, origin, recordId(origin.now), data);
  await insertRows(trx, resource, { ...origin, cause, sequence }, [row]);
  return row;
}

/** Inserts new records that have IDs and were counted. */
export function insertReservedRecords(
  trx: RecordTrx,
  resource: Resource,
  origin: Provenance,
  records: readonly { id: string; data: Data }[],
): Eventually<void> {
  if (records.length === 0) return;
  const rows = mapInTurns(records, ({ id, data }) => newRow(resource, origin, id, data));
  return andThen(rows, (made) => insertRows(trx, resource, origin, made));
}

/** Inserts a deleted record that was counted, and returns the sequence number of its change. */
export async function restoreReservedRecord(
  trx: RecordTrx,
  resource: Resource,
  { orgNumber, now }: Pick<Provenance, 'orgNumber' | 'now'>,
  row: RecordRow,
): Promise<number> {
  await statementsOf(resource).insert(trx, [row]);
  noteNewRecords(trx, resource, orgNumber, [row]);
  await showCreated(trx, resource, { orgNumber, isRestored: true }, [row]);
  return logCreated(trx, resource, { orgNumber, at: now, action: 'undeleted' }, [row]);
}

function insertRows(
  trx: RecordTrx,
  resource: Resource,
  { orgNumber, now, cause, sequence }: Provenance & Pick<NewRecord, 'cause' | 'sequence'>,
  rows: readonly RecordRow[],
): Eventually<void> {
  noteNewRecords(trx, resource, orgNumber, rows);
  return inTurn([
    () => statementsOf(resource).insert(trx, rows),
    () => (showsByItself(resource) ? showCreated(trx, resource, { orgNumber }, rows) : undefined),
    () => logCreated(trx, resource, { orgNumber, at: now, cause, sequence }, rows),
  ]);
}

function newRow(
  { fields }: Resource,
  { orgNumber, createdBy, now }: Provenance,
  id: string,
  data: Data,
): RecordRow {
  const origin = { org_id: orgNumber, id, created_by: createdBy, created_at: now, updated_at: now };
  return storedRow(fields, data, origin) as RecordRow;
}

/** The record with that ID in the organization. */
export function findRecord(
  db: Db,
  resource: Resource,
  { orgNumber, id }: RecordKey,
): Eventually<RecordRow | undefined> {
  return andThen(statementsOf(resource).find(db, orgNumber, [id]), ([row]) => row);
}

/** The records with these IDs in the organization, in no order. */
export function findRecords(
  db: Db,
  resource: Resource,
  orgNumber: number,
  ids: readonly string[],
): Eventually<RecordRow[]> {
  return statementsOf(resource).find(db, orgNumber, ids);
}

// At most about thirty megabytes.
const RECORDS_AT_ONCE = 50;

/**
 * The records with these IDs, in no order, as far as a page is read, and how many of the IDs that covers.
 * @param unseen those fields with long texts that are not read
 */
export async function findPage(
  db: Db,
  resource: Resource,
  {
    orgNumber,
    ids,
    unseen = [],
  }: { orgNumber: number; ids: readonly string[]; unseen?: readonly string[] | undefined },
): Promise<{ rows: RecordRow[]; ids: number }> {
  const find = finders(resource).getOrInsertComputed(unseen.join(), () => finderOf(resource, unseen));
  const reading = new PageSizeLimit(longTexts(resource));
  const rows: RecordRow[] = [];
  let read = 0;
  while (read < ids.length && reading.takesMore) {
    const some = await find(db, orgNumber, ids.slice(read, read + RECORDS_AT_ONCE));
    for (const row of some) reading.count(row);
    rows.push(...some);
    read = Math.min(ids.length, read + RECORDS_AT_ONCE);
  }
  return { rows, ids: read };
}
