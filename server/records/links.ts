// Linked records: list, link and unlink the children of a parent.
import { unknownReference } from '../../db/declare/faults.ts';
import { instantText } from '../../db/declare/instants.ts';
import type { Data } from '../../db/declare/json.ts';
import { childOf } from '../../db/declare/links.ts';
import { fromColumns, type Link, type Resource, toColumns } from '../../db/declare/resource.ts';
import { getResource } from '../../db/resources/index.ts';
import type { LinkRow, RecordKey, RecordRow } from '../../db/schema.ts';
import { deleteLink, findLink, insertLink, listLinks } from '../../db/tables/links.ts';
import { findRecords } from '../../db/tables/records.ts';
import { mayRead } from '../access.ts';
import { ApiError, validationError } from '../errors.ts';
import { getRow, presentAll, type Writer } from './records.ts';
import { checkReferences, findVisible } from './references.ts';
import type { Reader } from './rules.ts';

/** The collection sub-resource of one parent. */
export interface LinkedCollection {
  parent: Resource;
  parentId: string;
  link: Link;
}

export interface LinkedPage {
  items: Data[];
  /** link_id of the last link; null for an empty page. */
  end: string | null;
  hasNextPage: boolean;
}

/**
 * The children of a parent that the key sees, newest link first.
 * @param authorize is told which resource the children are of, if they are of one, once the parent is found
 */
export async function listLinked(
  reader: Reader,
  { parent, parentId, link }: LinkedCollection,
  page: { after: string | null; limit: number },
  authorize: (child: Resource) => void,
): Promise<LinkedPage> {
  const { db, access } = reader;
  const parentRow = await getRow(reader, parent, parentId);
  const childName = childOf(link, { parent: parentRow });
  if (childName !== undefined) authorize(getResource(childName));
  const rows = await listLinks(db, link, keyOf(parentRow), {
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
  { parent, parentId, link }: LinkedCollection,
  body: Data,
): Promise<Data> {
  const { db: trx, access, now } = writer;
  const parentRow = await getRow(writer, parent, parentId);
  const child = getResource(childOf(link, { link: body, parent: parentRow }) ?? '');
  const childId = String(body[link.childColumn]);
  const faults = await checkReferences(trx, access, link.fields, body);
  if ((await findVisible(trx, access, child.name, childId)) === undefined) {
    faults.unshift(unknownReference(link.childColumn, child.name));
  }
  if (faults.length > 0) throw validationError(faults);
  const at = keyOf(parentRow);
  const row =
    (await findLink(trx, link, at, childId)) ??
    (await insertLink(trx, link, at, { childId, columns: toColumns(link.fields, body), now }));
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
  { parent, parentId, link }: LinkedCollection,
  childId: string,
): Promise<void> {
  const { db: trx, access } = writer;
  const parentRow = await getRow(writer, parent, parentId);
  const row = await findLink(trx, link, keyOf(parentRow), childId);
  const childName = row && childOf(link, { link: row, parent: parentRow });
  if (childName === undefined || (await findVisible(trx, access, childName, childId)) === undefined) {
    throw new ApiError('RESOURCE_NOT_FOUND', `No such link of this ${parent.singular} exists.`);
  }
  await deleteLink(trx, link, keyOf(parentRow), childId);
}

function keyOf({ org_id: orgId, id }: RecordRow): RecordKey {
  return { orgId, id };
}

async function presentLinks(reader: Reader, link: Link, parent: RecordRow, rows: LinkRow[]): Promise<Data[]> {
  const idOf = (row: LinkRow) => String(row[link.childColumn]);
  const own = (row: LinkRow) => fromColumns(link.fields, row);
  const linkedAt = (row: LinkRow) => instantText(row.created_at);
  const childName = childOf(link, { parent });
  if (childName === undefined) {
    return rows.map((row) => ({ ...own(row), [link.childColumn]: idOf(row), linked_at: linkedAt(row) }));
  }
  const child = getResource(childName);
  // Whoever may link but not read is shown what was sent.
  if (!mayRead(reader.access, child))
    return rows.map((row) => ({ id: idOf(row), ...own(row), linked_at: linkedAt(row) }));
  const found = await findRecords(reader.db, child, reader.access.orgId, rows.map(idOf));
  const records = await presentAll(reader, child, found);
  const byId = new Map(records.map((record) => [String(record.id), record]));
  return rows.flatMap((row) => {
    const record = byId.get(idOf(row));
    return record === undefined ? [] : [{ ...record, ...own(row), linked_at: linkedAt(row) }];
  });
}
