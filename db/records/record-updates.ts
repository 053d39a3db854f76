// Changes columns of records, compiled once for each set of columns.

import { sql } from 'kysely';
import { BoundedMap, memoize } from '../cache.ts';
import { logReferences, logUpdated, type NotedUpdate, ownerOf } from '../changes/changes.ts';
import { andThen, type Eventually, inTurn, type PreparedQuery } from '../engine/engine.ts';
import { chargeQuota } from '../engine/quota.ts';
import { type RecordRow, type RecordTrx, type Trx, tableOf } from '../engine/schema.ts';
import { type Statement, statement } from '../engine/statement.ts';
import type { TransactionEngine } from '../engine/transaction.ts';
import { keyColumn } from '../model/fields.ts';
import type { Data } from '../model/json.ts';
import { toColumns } from '../model/record-forms.ts';
import type { Resource, Row } from '../model/resource.ts';
import { noteUpdatedRecords } from '../search/notes.ts';
import { bytesOf } from '../tables/content-bytes.ts';
import { inOrderOf } from '../tables/in-order.ts';
import { decidingColumns } from '../timeline/places.ts';
import { changesTimelines, showFilled, showUpdated } from '../timeline/writes.ts';

/** The columns of the given fields that differ from the stored ones. */
export function changedColumns(resource: Resource, stored: RecordRow, data: Data): Row {
  const columns = toColumns(resource.fields, data);
  const changed: Row = {};
  for (const name in data) {
    const value = columns[name];
    if (value === undefined || (stored[name] ?? null) === value) continue;
    changed[name] = value;
    // Shown rows do not include keys, which change with their fields.
    const key = columns[keyColumn(name)];
    if (key !== undefined) changed[keyColumn(name)] = key;
  }
  return changed;
}

// Thousands of column sets are possible, but few are used.
const COLUMN_SETS_MAX = 100;

const updates = memoize((_: Resource) => new BoundedMap<string, Statement<never>>(COLUMN_SETS_MAX));

/** The names of columns, as one text. */
function namesOf(columns: Row): string {
  return Object.keys(columns).join(' ');
}

function updateOf(resource: Resource, names: string): Statement<never> {
  return updates(resource).getOrCompute(names, () =>
    statement<never>((db, param) => {
      const values = Object.fromEntries(names.split(' ').map((column) => [column, param(column)]));
      const set = db.updateTable(tableOf(resource)).set(values);
      return set.where('org_id', '=', param('org')).where('id', '=', param('id'));
    }),
  );
}

/** A record as stored before a change. */
export interface StoredRecord {
  orgNumber: number;
  row: RecordRow;
}

/**
 * Sets columns of one record.
 * @throws QuotaError
 */
export async function updateRecord(
  trx: RecordTrx,
  resource: Resource,
  stored: StoredRecord,
  columns: Row,
): Promise<void> {
  await reserveUpdate(trx, resource, stored, columns);
  await updateReservedRecords(trx, resource, stored.orgNumber, [{ row: stored.row, columns }]);
}

/**
 * Counts what columns of one record will hold; call it before setting them.
 * @throws QuotaError if the organization cannot hold it
 */
export function reserveUpdate(
  trx: Trx,
  resource: Resource,
  { orgNumber, row }: StoredRecord,
  columns: Row,
): Eventually<void> {
  return chargeQuota(trx, orgNumber, () => {
    const replaced: Row = {};
    for (const name in columns) replaced[name] = row[name] ?? null;
    return { records: 0, bytes: bytesOf(resource, columns) - bytesOf(resource, replaced) };
  });
}

// Sets columns that were counted.
function setColumns(
  trx: Trx,
  resource: Resource,
  orgNumber: number,
  { row: { id }, columns }: RecordUpdate,
): Eventually<void> {
  const update = updateOf(resource, namesOf(columns));
  return andThen(update(trx, { ...columns, org: orgNumber, id }), () => undefined);
}

const bulkUpdates = memoize(
  (_: Resource) =>
    new BoundedMap<string, (engine: TransactionEngine) => PreparedQuery<unknown> | null>(COLUMN_SETS_MAX),
);

function bulkUpdateOf(resource: Resource, names: string) {
  return bulkUpdates(resource).getOrCompute(names, () =>
    memoize((engine: TransactionEngine) => {
      const query = engine.updateOf(tableOf(resource), names.split(' '));
      return query && engine.bind(query);
    }),
  );
}

/** What a change sets of a record: always its time as well. */
export type RecordUpdate = NotedUpdate;

/**
 * Sets columns of records that were counted; in their order if records have unique values in them.
 * @param cause the sequence number of the change that causes this; by default, none does
 */
export function updateReservedRecords(
  trx: RecordTrx,
  resource: Resource,
  orgNumber: number,
  updates: readonly RecordUpdate[],
  cause: number | null = null,
): Eventually<void> {
  const [first] = updates;
  if (first === undefined) return;
  const context = { orgNumber, at: Number(first.columns.updated_at), cause };
  noteUpdatedRecords(trx, resource, orgNumber, updates);
  return inTurn([
    () =>
      updates.length > 1
        ? updateSeveral(trx, resource, orgNumber, updates)
        : setColumns(trx, resource, orgNumber, first),
    () =>
      andThen(logUpdated(trx, resource, context, updates), (sequence) =>
        changesTimelines(resource, updates)
          ? showUpdated(trx, resource, { ...context, sequence }, updates)
          : undefined,
      ),
  ]);
}

const fills = memoize((_: Resource) => new BoundedMap<string, Statement<RecordRow>>(COLUMN_SETS_MAX));

function fillOf(resource: Resource, column: string): Statement<RecordRow> {
  return fills(resource).getOrCompute(column, () =>
    statement<RecordRow>((db, param) =>
      db
        .updateTable(tableOf(resource))
        .set({ [column]: param('value'), updated_at: param('now') } as never)
        .where('org_id', '=', param('org'))
        .where(db.engine.isAmong(sql.ref('id'), param('ids')))
        .where(column, 'is', null)
        .returning(filledColumns(resource) as never)
        .$castTo<RecordRow>(),
    ),
  );
}

// What the log and timelines need of an updated record.
const filledColumns = memoize((resource: Resource): string[] => [
  ...new Set([
    'id',
    'created_at',
    ...(resource.owner === null ? [] : [resource.owner]),
    ...('company_id' in resource.fields ? ['company_id'] : []),
    ...decidingColumns(resource),
  ]),
]);

/**
 * Sets a reference of many records in which it is null; in the log, the changes have the order of the IDs.
 * @param given the records, the value, the time in Unix milliseconds, and the sequence number of the change that causes this
 */
export async function fillReferences(
  trx: RecordTrx,
  resource: Resource,
  column: string,
  given: { orgNumber: number; ids: readonly string[]; value: string; now: number; cause: number },
): Promise<void> {
  const { orgNumber, ids, value, now, cause } = given;
  if (ids.length === 0) return;
  const args = { org: orgNumber, ids: JSON.stringify(ids), value, now };
  const rows = inOrderOf(ids, await fillOf(resource, column)(trx, args), ({ id }) => id);
  const change = { column, before: null, after: value };
  const filled = rows.map((row) => ({
    id: row.id,
    owner: ownerOf(resource, row),
    company_id: column === 'company_id' ? null : (row.company_id ?? null),
  }));
  await logReferences(trx, resource, { orgNumber, at: now, cause }, change, filled);
  await showFilled(trx, resource, { orgNumber, column }, rows);
}

async function updateSeveral(
  trx: Trx,
  resource: Resource,
  orgNumber: number,
  updates: readonly RecordUpdate[],
): Promise<void> {
  const unique = Object.values(resource.unique).flat();
  const alike = new Map<string, RecordUpdate[]>();
  for (const update of updates) {
    const isUnique = unique.some((name) => name in update.columns);
    if (isUnique) await setColumns(trx, resource, orgNumber, update);
    else alike.getOrInsert(namesOf(update.columns), []).push(update);
  }
  for (const [names, some] of alike) {
    const updateAll = some.length > 1 ? bulkUpdateOf(resource, names)(trx.engine) : null;
    if (updateAll === null) {
      const update = updateOf(resource, names);
      for (const { row, columns } of some) {
        const setting = update(trx, { ...columns, org: orgNumber, id: row.id });
        // Awaiting what is done already would cost a turn for each record.
        if (setting instanceof Promise) await setting;
      }
    } else {
      const rows = some.map(({ row: { id }, columns }) => ({ ...columns, id }));
      await updateAll([JSON.stringify(rows), orgNumber]);
    }
  }
}
