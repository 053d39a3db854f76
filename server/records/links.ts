// Linked records: list, link and unlink the children of a parent.
import type { ColumnValue } from '../../db/declare/fields.ts';
import type { Data } from '../../db/declare/json.ts';
import { fromColumns, type Link, type Resource, toColumns } from '../../db/declare/resource.ts';
import { getResource } from '../../db/resources/index.ts';
import type { LinkRow, RecordRow } from '../../db/schema.ts';
import { deleteLink, findLink, insertLink, listLinks } from '../../db/tables/links.ts';
import { findRecords } from '../../db/tables/records.ts';
import { ApiError, invalid, validationError } from '../errors.ts';
import { getRow, presentAll, type Writer } from './records.ts';
import { checkReferences, findVisible, unknownReference } from './references.ts';
import type { Reader } from './rules.ts';

/** A collection sub-resource in the hands of a caller. */
export interface LinkedCollection {
  parent: Resource;
  link: Link;
}

export interface LinkPage {
  items: Data[];
  /** link_id of the last link; null for an empty page. */
  end: string | null;
  hasNextPage: boolean;
}

/**
 * The children of a parent that the key sees, newest link first.
 * @param authorize is told which resource the children are of, once the parent is found
 */
export async function listLinked(
  reader: Reader,
  { parent, link }: LinkedCollection,
  parentId: string,
  page: { after: string | null; limit: number },
  authorize: (child: Resource) => void,
): Promise<LinkPage> {
  const { db, access } = reader;
  const parentRow = await getRow(reader, parent, parentId);
  if (link.childType === 'parent') authorize(childResource(link, parentRow.record_type));
  const at = { orgId: access.orgId, id: parentId };
  const rows = await listLinks(db, link, at, {
    ownerId: access.userId,
    after: page.after,
    limit: page.limit + 1,
  });
  const hasNextPage = rows.length > page.limit;
  if (hasNextPage) rows.pop();
  return {
    items: await presentLinks(reader, link, parentRow, rows),
    end: rows.at(-1)?.link_id ?? null,
    hasNextPage,
  };
}

/**
 * Links an existing record; one that is linked already stays as it is.
 * @returns the item that a list of the children would show
 */
export async function linkRecord(
  writer: Writer,
  at: LinkedCollection,
  parentId: string,
  body: Data,
): Promise<Data> {
  const { db: trx, access, now } = writer;
  const { parent, link } = at;
  const parentRow = await getRow(writer, parent, parentId);
  const type = link.childType === 'body' ? body.record_type : parentRow.record_type;
  const child = childResource(link, link.childType === 'fixed' ? null : (type as ColumnValue));
  const childId = String(body[link.childField]);
  const faults = await checkReferences(trx, access, link.fields, body);
  if ((await findVisible(trx, access, child.name, childId)) === undefined) {
    faults.unshift(unknownReference(link.childField, child.name));
  }
  if (faults.length > 0) throw validationError(faults);
  const owner = { orgId: access.orgId, id: parentId };
  let row = await findLink(trx, link, owner, childId);
  if (row === undefined) {
    const columns = toColumns(link.fields, body);
    if (link.childType === 'body') columns.record_type = String(type);
    row = await insertLink(trx, link, owner, childId, columns, now);
  }
  const [item] = await presentLinks(writer, link, parentRow, [row]);
  if (item === undefined) throw new Error('a link was written that cannot be shown');
  return item;
}

/**
 * Takes a link away.
 * @throws ApiError 404 if the parent or the link is not there
 */
export async function unlinkRecord(
  writer: Writer,
  { parent, link }: LinkedCollection,
  parentId: string,
  childId: string,
): Promise<void> {
  const { db: trx, access } = writer;
  const parentRow = await getRow(writer, parent, parentId);
  const owner = { orgId: access.orgId, id: parentId };
  const row = await findLink(trx, link, owner, childId);
  const type = link.childType === 'parent' ? parentRow.record_type : row?.record_type;
  const child =
    row === undefined ? undefined : childResource(link, link.childType === 'fixed' ? null : (type ?? null));
  if (child === undefined || (await findVisible(trx, access, child.name, childId)) === undefined) {
    throw new ApiError('RESOURCE_NOT_FOUND', `No such link of this ${parent.singular} exists.`);
  }
  await deleteLink(trx, link, owner, childId);
}

/** The resource that children of that type (a singular) are of; with a fixed type, the only one. */
export function childResource(link: Link, type: ColumnValue | undefined): Resource {
  const [only] = Object.values(link.children);
  const name = type === null ? only : link.children[String(type)];
  if (name === undefined)
    throw invalid('record_type', `must be one of: ${Object.keys(link.children).join(', ')}`);
  return getResource(name);
}

async function presentLinks(reader: Reader, link: Link, parent: RecordRow, rows: LinkRow[]): Promise<Data[]> {
  if (link.childType === 'body') return rows.map((row) => bareItem(link, row));
  const child = childResource(link, link.childType === 'fixed' ? null : parent.record_type);
  const ids = rows.map((row) => String(row[link.childField]));
  const records = await presentAll(
    reader,
    child,
    await findRecords(reader.db, child, reader.access.orgId, ids),
  );
  const byId = new Map(records.map((record) => [String(record.id), record]));
  return rows.flatMap((row) => {
    const record = byId.get(String(row[link.childField]));
    return record === undefined
      ? []
      : [{ ...record, ...fromColumns(link.fields, row), linked_at: linkedAt(row) }];
  });
}

function bareItem(link: Link, row: LinkRow): Data {
  const record_type = row.record_type ?? null;
  return { record_type, record_id: row[link.childField] ?? null, linked_at: linkedAt(row) };
}

function linkedAt(row: LinkRow): string {
  return new Date(row.created_at).toISOString();
}

/** Reads a single association: the record itself, or null where none is set or the key does not see it. */
export async function readAssociation(
  reader: Reader,
  parent: Resource,
  parentId: string,
  column: string,
  child: Resource,
): Promise<Data | null> {
  const row = await getRow(reader, parent, parentId);
  const childId = row[column];
  if (typeof childId !== 'string') return null;
  const childRow = await findVisible(reader.db, reader.access, child.name, childId);
  if (childRow === undefined) return null;
  const [record] = await presentAll(reader, child, [childRow]);
  return record ?? null;
}
