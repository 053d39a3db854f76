// Deletes a record with everything that belongs to it, and clears references to it.

import { sql } from 'kysely';
import { memoize } from '../cache.ts';
import { chargeQuota } from '../engine/quota.ts';
import { linkTable, type RecordKey, type Trx, tableOf } from '../engine/schema.ts';
import { type Statement, statement } from '../engine/statement.ts';
import type { RecordTotals } from '../engine/transaction.ts';
import { inBatches } from '../event-loop.ts';
import type { Field } from '../model/fields.ts';
import { showRow } from '../model/record-forms.ts';
import { hasExternalIds, type Link, type Resource, type SideTable } from '../model/resource.ts';
import { RESOURCES } from '../model/resources/registry.ts';
import { uniqueValues } from '../model/rules.ts';
import { bytesOf } from './content-bytes.ts';
import { deleteExternalIds, externalIdBytesOf } from './record-external-ids.ts';
import { findRecord } from './records.ts';

/** Changes at most `rows` rows related to the record with that `id`, and returns as many. */
type Piece = Statement<unknown>;

const piecesOf = memoize((resource: Resource): Piece[] =>
  RESOURCES.flatMap((other) => [
    ...columnsTo(resource, other.fields).map((column) => clearReferences(other, column)),
    ...Object.values(other.links).flatMap((link) =>
      columnsTo(resource, link.fields).map((column) => clearLinkField(link, column)),
    ),
    ...[...Object.values(other.links), ...other.sideTables].flatMap((rows) =>
      columnsOfSide(resource, other, rows).map((columns) => deleteRows(rows, columns)),
    ),
  ]),
);

const removal = memoize((resource: Resource) =>
  statement<never>((db, param) =>
    db.deleteFrom(tableOf(resource)).where('org_id', '=', param('org')).where('id', '=', param('id')),
  ),
);

const NOTHING: RecordTotals = { records: 0, bytes: 0 };

/**
 * Deletes a record with the rows that belong to it or link to it; references to it become null.
 * @param now Unix milliseconds
 */
export async function deleteRecord(
  trx: Trx,
  resource: Resource,
  { orgNumber, id }: RecordKey,
  now: number,
): Promise<void> {
  const args = { org: orgNumber, id, now };
  await chargeQuota(trx, orgNumber, async () => {
    const row = await findRecord(trx, resource, { orgNumber, id });
    if (row === undefined) return NOTHING;
    const bytes = bytesOf(resource, row) + (await externalIdBytesOf(trx, resource, { orgNumber, id }));
    return { records: -1, bytes: -bytes };
  });
  await deleteHeld(trx, resource, { orgNumber, id });
  for (const piece of piecesOf(resource)) {
    await inBatches(async (rows) => (await piece(trx, { ...args, rows })).length);
  }
  if (hasExternalIds(resource)) await deleteExternalIds(trx, resource, { orgNumber, id });
  await removal(resource)(trx, args);
}

const holders = memoize((resource: Resource) =>
  resource.sideTables.flatMap(({ table, parentColumn, childColumn, holds }) => {
    if (holds === undefined) return [];
    const remove = statement<never>((db, param) =>
      db
        .deleteFrom(linkTable(table))
        .where('org_id', '=', param('org'))
        .where(childColumn, '=', param('key'))
        .where(parentColumn, '=', param('id')),
    );
    return [{ filter: holds, remove }];
  }),
);

// The rows with its unique values.
async function deleteHeld(trx: Trx, resource: Resource, { orgNumber, id }: RecordKey): Promise<void> {
  for (const { filter, remove } of holders(resource)) {
    const row = await findRecord(trx, resource, { orgNumber, id });
    const values = row === undefined ? [] : uniqueValues(resource, showRow(resource.fields, row));
    for (const value of values)
      if (value.filter === filter) await remove(trx, { org: orgNumber, id, key: value.key });
  }
}

/** The stored fields with IDs of the resource. */
export function columnsTo({ name: target }: Resource, fields: Readonly<Record<string, Field>>): string[] {
  return Object.entries(fields).flatMap(([name, { references, column }]) =>
    references === target && column !== null ? [name] : [],
  );
}

function clearReferences(resource: Resource, column: string): Piece {
  const table = tableOf(resource);
  return statement((db, param) => {
    const some = db
      .selectFrom(table)
      .select('id')
      .where('org_id', '=', param('org'))
      .where(column, '=', param('id'))
      .limit(param('rows'));
    const cleared = { [column]: null, updated_at: param('now') } as never;
    const update = db.updateTable(table).set(cleared).where('org_id', '=', param('org'));
    return update.where(db.engine.isIn(sql.ref('id'), some)).returning('id');
  });
}

function clearLinkField({ table, parentColumn, childColumn }: Link, column: string): Piece {
  return statement((db, param) => {
    const update = db.updateTable(linkTable(table)).set({ [column]: null } as never);
    const cleared = update.where('org_id', '=', param('org')).where(column, '=', param('id'));
    return cleared.returning([parentColumn, childColumn]);
  });
}

/** A column of a side table with IDs of a resource, and the other columns of the table's key. */
interface SideColumns {
  column: string;
  other: string;
}

function columnsOfSide(resource: Resource, parent: Resource, rows: SideTable): SideColumns[] {
  const { parentColumn, childColumn, children, holds } = rows;
  const isChild = Object.values(children).includes(resource.name);
  return [
    ...(parent.name === resource.name && holds === undefined
      ? [{ column: parentColumn, other: childColumn }]
      : []),
    ...(isChild ? [{ column: childColumn, other: parentColumn }] : []),
  ];
}

function deleteRows({ table: name }: SideTable, { column, other }: SideColumns): Piece {
  const table = linkTable(name);
  return statement((db, param) => {
    const some = db
      .selectFrom(table)
      .select(other)
      .where('org_id', '=', param('org'))
      .where(column, '=', param('id'))
      .limit(param('rows'));
    const removed = db.deleteFrom(table).where('org_id', '=', param('org')).where(column, '=', param('id'));
    return removed.where(db.engine.isIn(sql.ref(other), some)).returning(other);
  });
}
