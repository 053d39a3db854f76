// Links between records: the tables behind collection sub-resources.
import { sql } from 'kysely';
import type { ColumnValue } from '../declare/fields.ts';
import type { Link, Resource, Row } from '../declare/resource.ts';
import { getResource } from '../resources/index.ts';
import { type Db, type LinkRow, linkTable, tableOf } from '../schema.ts';

/** One end of a link: the organization and the parent whose links they are. */
export interface Parent {
  orgId: string;
  id: string;
}

/** The link between a parent and a child. */
export async function findLink(
  db: Db,
  link: Link,
  parent: Parent,
  childId: string,
): Promise<LinkRow | undefined> {
  const row = await db
    .selectFrom(linkTable(link.table))
    .selectAll()
    .where('org_id', '=', parent.orgId)
    .where(link.parentColumn, '=', parent.id)
    .where(link.childField, '=', childId)
    .executeTakeFirst();
  return row as LinkRow | undefined;
}

/** Links a child to a parent; `columns` are the link's own. `now` is in Unix milliseconds. */
export async function insertLink(
  trx: Db,
  link: Link,
  parent: Parent,
  childId: string,
  columns: Row,
  now: number,
): Promise<LinkRow> {
  const row: LinkRow = {
    ...columns,
    org_id: parent.orgId,
    [link.parentColumn]: parent.id,
    [link.childField]: childId,
    link_id: Bun.randomUUIDv7(),
    created_at: now,
  };
  await trx.insertInto(linkTable(link.table)).values(row).execute();
  return row;
}

/** Removes a link; false if there was none. */
export async function deleteLink(trx: Db, link: Link, parent: Parent, childId: string): Promise<boolean> {
  const result = await trx
    .deleteFrom(linkTable(link.table))
    .where('org_id', '=', parent.orgId)
    .where(link.parentColumn, '=', parent.id)
    .where(link.childField, '=', childId)
    .executeTakeFirst();
  return result.numDeletedRows > 0n;
}

export interface LinkPage {
  /** Only children of this owner; null for all of the organization. */
  ownerId: string | null;
  /** link_id of the last link of the page before. */
  after: string | null;
  limit: number;
}

/** Links of a parent, newest first. With an owner given, links to records of others are left out. */
export async function listLinks(db: Db, link: Link, parent: Parent, page: LinkPage): Promise<LinkRow[]> {
  let query = db
    .selectFrom(`${linkTable(link.table)} as link`)
    .selectAll('link')
    .where('link.org_id', '=', parent.orgId)
    .where(`link.${link.parentColumn}`, '=', parent.id)
    .orderBy('link.link_id', 'desc')
    .limit(page.limit);
  if (page.after !== null) query = query.where('link.link_id', '<', page.after);
  if (page.ownerId !== null) {
    const { ownerId } = page;
    query = query.where((eb) =>
      eb.or(childrenOf(link).map((child) => eb.exists(ownedChild(db, link, child, parent.orgId, ownerId)))),
    );
  }
  return (await query.execute()) as LinkRow[];
}

/** How many links each parent has, parents without any left out; `ownerId` as in `listLinks`. */
export async function countLinks(
  db: Db,
  link: Link,
  orgId: string,
  parentIds: readonly string[],
  ownerId: string | null,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const id of parentIds) {
    let total = 0;
    const children = ownerId === null ? [null] : childrenOf(link);
    for (const child of children) total += await countOne(db, link, { orgId, id }, child, ownerId);
    counts.set(id, total);
  }
  return counts;
}

async function countOne(
  db: Db,
  link: Link,
  parent: Parent,
  child: Resource | null,
  ownerId: ColumnValue,
): Promise<number> {
  let query = db
    .selectFrom(`${linkTable(link.table)} as link`)
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('link.org_id', '=', parent.orgId)
    .where(`link.${link.parentColumn}`, '=', parent.id);
  if (child !== null) {
    query = query.where((eb) => eb.exists(ownedChild(db, link, child, parent.orgId, ownerId)));
  }
  return Number((await query.executeTakeFirstOrThrow()).total);
}

// The linked record, if it is of that resource and that owner's; stands in a query of the links.
function ownedChild(db: Db, link: Link, child: Resource, orgId: string, ownerId: ColumnValue) {
  return db
    .selectFrom(`${tableOf(child)} as child`)
    .select('child.id')
    .where('child.org_id', '=', orgId)
    .where('child.id', '=', sql.ref<string>(`link.${link.childField}`))
    .where(`child.${child.owner ?? 'created_by'}`, '=', ownerId);
}

function childrenOf(link: Link): Resource[] {
  return Object.values(link.children).map(getResource);
}
