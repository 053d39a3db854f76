// Linked records: lists, links and unlinks the children of a parent.

import type { LinkRow, RecordRow } from '../../db/engine/schema.ts';
import { referenceFault } from '../../db/model/faults.ts';
import { instantText } from '../../db/model/instants.ts';
import type { Data } from '../../db/model/json.ts';
import { childOf } from '../../db/model/links.ts';
import { toColumns } from '../../db/model/record-forms.ts';
import type { Link, Resource, Row } from '../../db/model/resource.ts';
import { kindOf } from '../../db/model/resources/link-kinds.ts';
import { getResource } from '../../db/model/resources/registry.ts';
import { deleteLinks, insertLinks, type LinkWriting } from '../../db/records/link-batches.ts';
import { findLink, listLinks } from '../../db/records/links.ts';
import { findPage } from '../../db/records/records.ts';
import type { KindLinkRow } from '../../db/tables/link-lists.ts';
import { mayRead } from '../access.ts';
import { ApiError, validationError } from '../errors.ts';
import { getRow, type ItemPage, type PageRange, presentAll } from './records.ts';
import { checkReferences, findVisible } from './references.ts';
import type { Reader, Writer } from './rules.ts';

/** The collection sub-resource of one parent. */
export interface LinkedCollection {
  parent: Resource;
  parentId: string;
  link: Link;
}

/**
 * The children of a parent that the key can see, newest link first.
 * @param authorize called once the parent is found, with the resource of the children if all have the same one
 */
export async function listLinked(
  reader: Reader,
  { parent, parentId, link }: LinkedCollection,
  page: PageRange,
  authorize: (child: Resource) => void,
): Promise<ItemPage> {
  const { db, access } = reader;
  const parentRow = await getRow(reader, parent, parentId);
  const childName = childOf(link, { parent: parentRow });
  if (childName !== undefined) authorize(getResource(childName));
  const rows = await listLinks(
    db,
    link,
    { orgNumber: access.orgNumber, id: parentRow.id },
    {
      ownerId: access.userId,
      after: page.after && { createdAt: page.after.value, childId: page.after.id },
      limit: page.limit + 1,
    },
  );
  const isFull = rows.length > page.limit;
  if (isFull) rows.pop();
  const { items, isCut } = await presentPage(reader, { parent: parentRow, link }, rows);
  // A link deleted in the meantime has no item.
  const rowOf = (item: Data | undefined) => {
    const id = item?.[link.childColumn] ?? item?.id;
    return rows.find((row) => row[link.childColumn] === id);
  };
  return {
    items,
    hasNextPage: isCut || isFull,
    placeAfter: (index) => {
      const row = rowOf(items[index]);
      return { value: Number(row?.created_at), id: String(row?.[link.childColumn]) };
    },
  };
}

/**
 * Links an existing record; an existing link stays unchanged.
 * @returns the item as a list of the children shows it
 */
export async function linkRecord(
  writer: Writer,
  { parent, parentId, link }: LinkedCollection,
  body: Data,
): Promise<Data> {
  const { db: trx, access } = writer;
  const parentRow = await getRow(writer, parent, parentId);
  const child = getResource(childOf(link, { link: body, parent: parentRow }) ?? '');
  const childId = String(body[link.childColumn]);
  const at = { orgNumber: access.orgNumber, id: parentRow.id };
  const [faults, childRow, known] = await Promise.all([
    checkReferences(trx, access, link.fields, body),
    findVisible(trx, access, child.name, childId),
    findLink(trx, link, at, childId),
  ]);
  if (childRow === undefined) faults.unshift(referenceFault(link.childColumn, child.name));
  if (childRow === undefined || faults.length > 0) throw validationError(faults);
  const row = known ?? (await addLink(writer, { parent: parentRow, child: childRow, link }, body));
  const [item] = await presentLinks(writer, { parent: parentRow, link }, [row], [childRow]);
  if (item === undefined) throw new Error('a written link has no item to show');
  return item;
}

/**
 * Removes a link.
 * @throws ApiError 404 if the parent or the link does not exist
 */
export async function unlinkRecord(
  writer: Writer,
  { parent, parentId, link }: LinkedCollection,
  childId: string,
): Promise<void> {
  const { db: trx, access } = writer;
  const at = { orgNumber: access.orgNumber, id: parentId };
  const [parentRow, row] = await Promise.all([
    getRow(writer, parent, parentId),
    findLink(trx, link, at, childId),
  ]);
  const childName = row && childOf(link, { link: row, parent: parentRow });
  const child = childName === undefined ? undefined : await findVisible(trx, access, childName, childId);
  if (row === undefined || child === undefined) {
    throw new ApiError('RESOURCE_NOT_FOUND', `This ${parent.singular} has no such link.`);
  }
  const ends = { parent: parentRow, child, link };
  await deleteLinks(trx, kindOf(link), writingOf(writer, ends), [kindRow(link, row)]);
}

/** The records at the ends of a link. */
interface LinkedPair {
  parent: RecordRow;
  child: RecordRow;
  link: Link;
}

async function addLink(writer: Writer, ends: LinkedPair, body: Data): Promise<LinkRow> {
  const { parent, child, link } = ends;
  const row: LinkRow = {
    ...toColumns(link.fields, body),
    ...{ org_id: writer.access.orgNumber, [link.parentColumn]: parent.id, [link.childColumn]: child.id },
    created_at: writer.now,
  };
  await insertLinks(writer.db, kindOf(link), writingOf(writer, ends), [kindRow(link, row)]);
  return row;
}

function writingOf({ access: { orgNumber }, now }: Writer, { parent, child, link }: LinkedPair): LinkWriting {
  const isParent = (resource: string, id: string) =>
    resource === kindOf(link).parent.name && id === parent.id;
  return { orgNumber, now, end: (resource, id) => (isParent(resource, id) ? parent : child) };
}

function kindRow(link: Link, row: LinkRow): KindLinkRow {
  const [parent_id, child_id] = [String(row[link.parentColumn]), String(row[link.childColumn])];
  return { ...ownFields(link, row), parent_id, child_id, linked_at: row.created_at };
}

interface Links {
  parent: RecordRow;
  link: Link;
}

// A page of links as shown, and whether it ends before the last of them.
async function presentPage(
  reader: Reader,
  { parent, link }: Links,
  rows: readonly LinkRow[],
): Promise<{ items: Data[]; isCut: boolean }> {
  const childName = childOf(link, { parent });
  const child = childName === undefined ? undefined : getResource(childName);
  if (child === undefined || !mayRead(reader.access, child))
    return { items: await presentLinks(reader, { parent, link }, rows, []), isCut: false };
  const ids = rows.map((row) => String(row[link.childColumn]));
  const found = await findPage(reader.db, child, { orgNumber: reader.access.orgNumber, ids });
  const items = await presentLinks(reader, { parent, link }, rows.slice(0, found.ids), found.rows);
  return { items, isCut: found.ids < rows.length };
}

// Links of a parent as shown; `children` are their records.
async function presentLinks(
  reader: Reader,
  { parent, link }: Links,
  rows: readonly LinkRow[],
  children: readonly RecordRow[],
): Promise<Data[]> {
  const idOf = (row: LinkRow) => String(row[link.childColumn]);
  const linkedAt = (row: LinkRow) => ({ linked_at: instantText(row.created_at) });
  const childName = childOf(link, { parent });
  if (childName === undefined)
    return rows.map((row) => ({ ...ownFields(link, row), [link.childColumn]: idOf(row), ...linkedAt(row) }));
  const child = getResource(childName);
  // A key that can link but not read gets what it sent.
  if (!mayRead(reader.access, child))
    return rows.map((row) => ({ id: idOf(row), ...ownFields(link, row), ...linkedAt(row) }));
  const records = await presentAll(reader, child, children);
  const byId = new Map(records.map((record) => [record.id, record]));
  return rows.flatMap((row) => {
    const record = byId.get(idOf(row));
    return record === undefined ? [] : [Object.assign(record, ownFields(link, row), linkedAt(row))];
  });
}

// The link's own fields.
function ownFields({ fields }: Link, row: LinkRow): Row {
  const own: Row = {};
  for (const name in fields) own[name] = row[name] ?? null;
  return own;
}
