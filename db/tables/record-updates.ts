// Changes columns of records, compiled once for each set of columns.

import { BoundedMap, memoize } from '../cache.ts';
import type { Eventually, PreparedQuery } from '../engine/engine.ts';
import { chargeQuota } from '../engine/quota.ts';
import { type RecordRow, type Trx, tableOf } from '../engine/schema.ts';
import { type Statement, statement } from '../engine/statement.ts';
import type { TransactionEngine } from '../engine/transaction.ts';
import { keyColumn } from '../model/fields.ts';
import type { Data } from '../model/json.ts';
import { toColumns } from '../model/record-forms.ts';
import type { Resource, Row } from '../model/resource.ts';
import { bytesOf } from './content-bytes.ts';

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

function updateOf(resource: Resource, columns: readonly string[]): Statement<never> {
  return updates(resource).getOrCompute(columns.join(' '), () =>
    statement<never>((db, param) => {
      const values = Object.fromEntries(columns.map((column) => [column, param(column)]));
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
  trx: Trx,
  resource: Resource,
  stored: StoredRecord,
  columns: Row,
): Promise<void> {
  await reserveUpdate(trx, resource, stored, columns);
  await updateReservedRecord(trx, resource, stored, columns);
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

/** Sets columns of one record that were counted; there can be none. */
export async function updateReservedRecord(
  trx: Trx,
  resource: Resource,
  { orgNumber, row: { id } }: StoredRecord,
  columns: Row,
): Promise<void> {
  const names = Object.keys(columns);
  if (names.length > 0) await updateOf(resource, names)(trx, { ...columns, org: orgNumber, id });
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

/** What a change sets of a record. */
export interface RecordUpdate {
  row: RecordRow;
  /** There can be none. */
  columns: Row;
}

/** Sets columns of several records that were counted; in their order if records have unique values in them. */
export async function updateReservedRecords(
  trx: Trx,
  resource: Resource,
  orgNumber: number,
  updates: readonly RecordUpdate[],
): Promise<void> {
  const [only, ...others] = updates;
  if (only !== undefined && others.length === 0)
    return updateReservedRecord(trx, resource, { orgNumber, row: only.row }, only.columns);
  const unique = Object.values(resource.unique).flat();
  const alike = new Map<string, RecordUpdate[]>();
  for (const update of updates) {
    const names = Object.keys(update.columns).join(' ');
    if (names === '') continue;
    const isUnique = unique.some((name) => name in update.columns);
    if (isUnique) await updateReservedRecord(trx, resource, { orgNumber, row: update.row }, update.columns);
    else alike.getOrInsert(names, []).push(update);
  }
  for (const [names, some] of alike) {
    const updateAll = some.length > 1 ? bulkUpdateOf(resource, names)(trx.engine) : null;
    if (updateAll === null) {
      for (const { row, columns } of some)
        await updateReservedRecord(trx, resource, { orgNumber, row }, columns);
    } else {
      const rows = some.map(({ row: { id }, columns }) => ({ ...columns, id }));
      await updateAll([JSON.stringify(rows), orgNumber]);
    }
  }
}
