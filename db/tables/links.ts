// Links between records: the tables behind collection sub-resources.
import { sql } from 'kysely';
import type { Link, Resource, Row } from '../declare/resource.ts';
import { getResource } from '../resources/index.ts';
import { type Db, type LinkRow, linkTable, type RecordKey, tableOf } from '../schema.ts';

/** The link between a parent and a child. */
export async function findLink(
  db: Db,
  link: Link,
  parent: RecordKey,
  childId: string,
): Promise<LinkRow | undefined> {
  const row = await db
    .selectFrom(linkTable(link.table))
    .selectAll()
    .where('org_id', '=', parent.orgId)
    .where(link.parentColumn, '=', parent.id)
    .where(link.childColumn, '=', childId)
    .executeTakeFirst();
  return row as LinkRow | undefined;
}

export interface NewLink {
  childId: string;
  /** The link's own columns. */
  columns: Row;
  /** Unix milliseconds. */
  now: number;
}

/** Links a child to a parent. */
export async function insertLink(
  trx: Db,
  link: Link,
  parent: RecordKey,
  { childId, columns, now }: NewLink,
): Promise<LinkRow> {
  const row: LinkRow = {
    ...columns,
    org_id: parent.orgId,
    [link.parentColumn]: parent.id,
    [link.childColumn]: childId,
    // Lists are in the order of these, which is to be that of the instants, whatever the clock of the process says.
    link_id: Bun.randomUUIDv7('hex', now),
    created_at: now,
  };
  await trx.insertInto(linkTable(link.table)).values(row).execute();
  return row;
}

/** Removes a link, if it is there. */
export async function deleteLink(trx: Db, link: Link, parent: RecordKey, childId: string): Promise<void> {
  await trx
    .deleteFrom(linkTable(link.table))
    .where('org_id', '=', parent.orgId)
    .where(link.parentColumn, '=', parent.id)
    .where(link.childColumn, '=', childId)
    .execute();
}

export interface LinkQuery {
  /** Only children of this owner; null for all of the organization. */
  ownerId: string | null;
  /** link_id of the last link of the page before. */
  after: string | null;
  limit: number;
}

/** Links of a parent, newest first. With an owner given, links to records of others are left out. */
export async function listLinks(
  db: Db,
  link: Link,
  parent: RecordKey,
  { ownerId, after, limit }: LinkQuery,
): Promise<LinkRow[]> {
  let query = db
    .selectFrom(`${linkTable(link.table)} as link`)
    .selectAll('link')
    .where('link.org_id', '=', parent.orgId)
    .where(`link.${link.parentColumn}`, '=', parent.id)
    .orderBy('link.link_id', 'desc')
    .limit(limit);
  if (after !== null) query = query.where('link.link_id', '<', after);
  if (ownerId !== null) {
    const owner = { orgId: parent.orgId, id: ownerId };
    query = query.where((eb) =>
      eb.or(childrenOf(link).map((child) => eb.exists(ownedChild(db, link, child, owner)))),
    );
  }
  return (await query.execute()) as LinkRow[];
}

/** How many links a parent has; `ownerId` as in `listLinks`. */
export async function countLinks(
  db: Db,
  link: Link,
  parent: RecordKey,
  ownerId: string | null,
): Promise<number> {
  const all = db
    .selectFrom(`${linkTable(link.table)} as link`)
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('link.org_id', '=', parent.orgId)
    .where(`link.${link.parentColumn}`, '=', parent.id);
  if (ownerId === null) return Number((await all.executeTakeFirstOrThrow()).total);
  const owner = { orgId: parent.orgId, id: ownerId };
  let total = 0;
  for (const child of childrenOf(link)) {
    const owned = all.where((eb) => eb.exists(ownedChild(db, link, child, owner)));
    total += Number((await owned.executeTakeFirstOrThrow()).total);
  }
  return total;
}

// The linked record, if it is of that resource and that owner's; stands in a query of the links.
function ownedChild(db: Db, link: Link, child: Resource, owner: RecordKey) {
  return db
    .selectFrom(`${tableOf(child)} as child`)
    .select('child.id')
    .where('child.org_id', '=', owner.orgId)
    .where('child.id', '=', sql.ref<string>(`link.${link.childColumn}`))
    .where(`child.${child.owner ?? 'created_by'}`, '=', owner.id);
}

function childrenOf(link: Link): Resource[] {
  return Object.values(link.children).map(getResource);
}
