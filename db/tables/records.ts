// Records by id: insert, find, update, delete, the same for every resource, compiled once each.

import type { ColumnValue } from '../declare/fields.ts';
import type { Resource, Row } from '../declare/resource.ts';
import { inPieces } from '../event-loop.ts';
import { RESOURCES } from '../resources/index.ts';
import { type Db, linkTable, type RecordRow, tableOf } from '../schema.ts';
import { statement } from '../statement.ts';

interface Statements {
  insert: (db: Db, args: Record<string, ColumnValue>) => Promise<never[]>;
  find: (db: Db, args: Record<string, ColumnValue>) => Promise<RecordRow[]>;
}

const statements = new Map<string, Statements>();

function statementsOf(resource: Resource): Statements {
  let found = statements.get(resource.name);
  if (found === undefined) {
    const table = tableOf(resource);
    const columns = ['org_id', ...resource.storedColumns];
    found = {
      insert: statement<never>((db, param) => {
        const values: Row = Object.fromEntries(columns.map((column) => [column, param(column)]));
        return db.insertInto(table).values(values as RecordRow);
      }),
      find: statement<RecordRow>((db, param) =>
        db.selectFrom(table).selectAll().where('org_id', '=', param('org')).where('id', '=', param('id')),
      ),
    };
    statements.set(resource.name, found);
  }
  return found;
}

/** Writes a new record; columns that `row` leaves out are null. */
export async function insertRecord(trx: Db, resource: Resource, row: RecordRow): Promise<void> {
  await statementsOf(resource).insert(trx, row);
}

/** The record of that id in the organization. */
export async function findRecord(
  db: Db,
  resource: Resource,
  orgId: string,
  id: string,
): Promise<RecordRow | undefined> {
  return (await statementsOf(resource).find(db, { org: orgId, id }))[0];
}

/** The records of these ids in the organization, in no order. */
export async function findRecords(
  db: Db,
  resource: Resource,
  orgId: string,
  ids: readonly string[],
): Promise<RecordRow[]> {
  if (ids.length === 0) return [];
  const query = db.selectFrom(tableOf(resource)).selectAll().where('org_id', '=', orgId);
  return (await query.where('id', 'in', [...ids]).execute()) as RecordRow[];
}

/** Sets columns of one record. */
export async function updateRecord(
  trx: Db,
  resource: Resource,
  orgId: string,
  id: string,
  columns: Row,
): Promise<void> {
  await trx
    .updateTable(tableOf(resource))
    .set(columns)
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .execute();
}

/** Deletes a record with the links to it; references to it become null. `now` is in Unix milliseconds. */
export async function deleteRecord(
  trx: Db,
  resource: Resource,
  orgId: string,
  id: string,
  now: number,
): Promise<void> {
  for (const other of RESOURCES) {
    await clearReferences(trx, resource, other, orgId, id, now);
    await deleteLinks(trx, resource, other, orgId, id);
  }
  for (const { table, column, other } of SIDE_TABLES[resource.name] ?? []) {
    await deleteLinksBy(trx, table, column, other, orgId, id);
  }
  await trx.deleteFrom(tableOf(resource)).where('org_id', '=', orgId).where('id', '=', id).execute();
}

// Rows that belong to a record without being a link that a client can see.
const SIDE_TABLES: Record<string, { table: string; column: string; other: string }[]> = {
  contacts: [
    { table: 'contact_emails', column: 'contact_id', other: 'email_key' },
    { table: 'interaction_contacts', column: 'contact_id', other: 'interaction_id' },
  ],
  companies: [{ table: 'interaction_companies', column: 'company_id', other: 'interaction_id' }],
  pipelines: [{ table: 'pipeline_stages', column: 'pipeline_id', other: 'id' }],
};

async function clearReferences(
  trx: Db,
  gone: Resource,
  other: Resource,
  orgId: string,
  id: string,
  now: number,
): Promise<void> {
  for (const [name, field] of Object.entries(other.fields)) {
    if (field.references !== gone.name || field.column === null) continue;
    const table = tableOf(other);
    const cleared: Row = { [name]: null, updated_at: now };
    await inPieces(async (rowsMax) => {
      const some = trx.selectFrom(table).select('id').where('org_id', '=', orgId).where(name, '=', id);
      const update = trx.updateTable(table).set(cleared).where('org_id', '=', orgId);
      return (await update.where('id', 'in', some.limit(rowsMax)).executeTakeFirst()).numUpdatedRows;
    });
  }
}

async function deleteLinks(
  trx: Db,
  gone: Resource,
  other: Resource,
  orgId: string,
  id: string,
): Promise<void> {
  for (const link of Object.values(other.links)) {
    const table = linkTable(link.table);
    const { parentColumn, childField } = link;
    if (other.name === gone.name) await deleteLinksBy(trx, link.table, parentColumn, childField, orgId, id);
    if (Object.values(link.children).includes(gone.name))
      await deleteLinksBy(trx, link.table, childField, parentColumn, orgId, id);
    for (const [name, field] of Object.entries(link.fields)) {
      if (field.references !== gone.name) continue;
      const cleared: Row = { [name]: null };
      await trx.updateTable(table).set(cleared).where('org_id', '=', orgId).where(name, '=', id).execute();
    }
  }
}

// The rows in which `column` is `id`; `other` is the rest of their key.
async function deleteLinksBy(
  trx: Db,
  name: string,
  column: string,
  other: string,
  orgId: string,
  id: string,
): Promise<void> {
  const table = linkTable(name);
  await inPieces(async (rowsMax) => {
    const some = trx.selectFrom(table).select(other).where('org_id', '=', orgId).where(column, '=', id);
    const removal = trx.deleteFrom(table).where('org_id', '=', orgId).where(column, '=', id);
    return (await removal.where(other, 'in', some.limit(rowsMax)).executeTakeFirst()).numDeletedRows;
  });
}
