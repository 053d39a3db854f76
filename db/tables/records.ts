// Records by id: insert, find, update, delete, the same for every resource, compiled once each.
import type { Field } from '../declare/fields.ts';
import { storeRecord, toColumns } from '../declare/forms.ts';
import type { Data } from '../declare/json.ts';
import type { Link, Resource, Row, SideTable } from '../declare/resource.ts';
import { inPieces } from '../event-loop.ts';
import { type Insertion, insertion } from '../insertion.ts';
import { RESOURCES } from '../resources/index.ts';
import { type Db, linkTable, type RecordKey, type RecordRow, tableOf } from '../schema.ts';
import { type Statement, statement } from '../statement.ts';
import { columnsOf } from './columns.ts';
import { recordId } from './record-id.ts';

interface Statements {
  insert: Insertion;
  find: Statement<RecordRow>;
  findAll: Statement<RecordRow>;
}

const statements = new Map<string, Statements>();

function statementsOf(resource: Resource): Statements {
  let found = statements.get(resource.name);
  if (found === undefined) {
    const table = tableOf(resource);
    found = {
      insert: insertion(table, ['org_id', ...resource.storedColumns]),
      find: statement<RecordRow>((db, param) =>
        db
          .selectFrom(table)
          .select(columnsOf(resource))
          .$castTo<RecordRow>()
          .where('org_id', '=', param('org'))
          .where('id', '=', param('id')),
      ),
      findAll: statement<RecordRow>((db, param) =>
        db
          .selectFrom(table)
          .select(columnsOf(resource))
          .$castTo<RecordRow>()
          .where('org_id', '=', param('org'))
          .where('id', 'in', db.engine.textsOf(param('ids'))),
      ),
    };
    statements.set(resource.name, found);
  }
  return found;
}

/** Whose records are written, by whom and when. */
export interface Provenance {
  orgId: number;
  createdBy: string;
  /** Unix milliseconds. */
  now: number;
}

/** A record to be written. */
export interface NewRecord extends Provenance {
  /** Its fields; what they leave out has its own default. */
  data: Data;
}

/** Writes a new record and gives its row. */
export async function insertRecord(trx: Db, resource: Resource, record: NewRecord): Promise<RecordRow> {
  const { data, ...origin } = record;
  const row = newRow(resource, origin, recordId(origin.now), data);
  await statementsOf(resource).insert(trx, [row]);
  return row;
}

/** Writes new records, whose ids are made already. */
export async function insertRecords(
  trx: Db,
  resource: Resource,
  origin: Provenance,
  records: readonly { id: string; data: Data }[],
): Promise<void> {
  const rows = records.map(({ id, data }) => newRow(resource, origin, id, data));
  await statementsOf(resource).insert(trx, rows);
}

function newRow(
  { fields }: Resource,
  { orgId, createdBy, now }: Provenance,
  id: string,
  data: Data,
): RecordRow {
  const origin = { org_id: orgId, id, created_by: createdBy, created_at: now, updated_at: now };
  return storeRecord(fields, { ...data, ...origin }) as RecordRow;
}

/** The record of that id in the organization. */
export async function findRecord(
  db: Db,
  resource: Resource,
  { orgId, id }: RecordKey,
): Promise<RecordRow | undefined> {
  return (await statementsOf(resource).find(db, { org: orgId, id }))[0];
}

/** The records of these ids in the organization, in no order. */
export async function findRecords(
  db: Db,
  resource: Resource,
  orgId: number,
  ids: readonly string[],
): Promise<RecordRow[]> {
  const { find, findAll } = statementsOf(resource);
  const [id, ...more] = ids;
  if (id === undefined) return [];
  if (more.length === 0) return find(db, { org: orgId, id });
  return findAll(db, { org: orgId, ids: JSON.stringify(ids) });
}

/** The columns in which the fields given differ from what is stored. */
export function changedColumns(resource: Resource, stored: RecordRow, data: Data): Row {
  const columns = toColumns(resource.fields, data);
  const changed: Row = {};
  for (const name in columns) {
    const value = columns[name] ?? null;
    if ((stored[name] ?? null) !== value) changed[name] = value;
  }
  return changed;
}

/** Sets columns of one record. */
export async function updateRecord(
  trx: Db,
  resource: Resource,
  { orgId, id }: RecordKey,
  columns: Row,
): Promise<void> {
  await trx
    .updateTable(tableOf(resource))
    .set(columns)
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .execute();
}

/**
 * Deletes a record with the rows that belong or are tied to it; references to it become null.
 * @param now Unix milliseconds
 */
export async function deleteRecord(trx: Db, resource: Resource, key: RecordKey, now: number): Promise<void> {
  for (const other of RESOURCES) {
    for (const column of columnsTo(resource, other.fields)) {
      await clearReferences(trx, { table: tableOf(other), column }, key, now);
    }
    for (const link of Object.values(other.links)) {
      for (const column of columnsTo(resource, link.fields)) await clearLinkField(trx, link, column, key);
    }
    for (const rows of [...Object.values(other.links), ...other.sideTables]) {
      const { parentColumn: parent, childColumn: child, children } = rows;
      if (other.name === resource.name) await deleteRows(trx, rows, { column: parent, other: child }, key);
      if (Object.values(children).includes(resource.name))
        await deleteRows(trx, rows, { column: child, other: parent }, key);
    }
  }
  const { orgId, id } = key;
  await trx.deleteFrom(tableOf(resource)).where('org_id', '=', orgId).where('id', '=', id).execute();
}

// The stored fields that hold ids of the resource.
function columnsTo({ name: target }: Resource, fields: Readonly<Record<string, Field>>): string[] {
  return Object.entries(fields).flatMap(([name, { references, column }]) =>
    references === target && column !== null ? [name] : [],
  );
}

async function clearReferences(
  trx: Db,
  { table, column }: { table: 'records'; column: string },
  { orgId, id }: RecordKey,
  now: number,
): Promise<void> {
  const cleared: Row = { [column]: null, updated_at: now };
  await inPieces(async (rowsMax) => {
    const some = trx.selectFrom(table).select('id').where('org_id', '=', orgId).where(column, '=', id);
    const update = trx.updateTable(table).set(cleared).where('org_id', '=', orgId);
    return (await update.where('id', 'in', some.limit(rowsMax)).executeTakeFirst()).numUpdatedRows;
  });
}

async function clearLinkField(trx: Db, link: Link, column: string, { orgId, id }: RecordKey): Promise<void> {
  const cleared: Row = { [column]: null };
  const update = trx.updateTable(linkTable(link.table)).set(cleared).where('org_id', '=', orgId);
  await update.where(column, '=', id).execute();
}

// The rows in which `column` is the id; `other` is the rest of their key.
async function deleteRows(
  trx: Db,
  { table: name }: SideTable,
  { column, other }: { column: string; other: string },
  { orgId, id }: RecordKey,
): Promise<void> {
  const table = linkTable(name);
  await inPieces(async (rowsMax) => {
    const some = trx.selectFrom(table).select(other).where('org_id', '=', orgId).where(column, '=', id);
    const removal = trx.deleteFrom(table).where('org_id', '=', orgId).where(column, '=', id);
    return (await removal.where(other, 'in', some.limit(rowsMax)).executeTakeFirst()).numDeletedRows;
  });
}
