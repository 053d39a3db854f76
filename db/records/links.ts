// Links between records: the tables behind collection sub-resources.

import { sql } from 'kysely';
import { memoize } from '../cache.ts';
import { type Db, type LinkRow, linkTable, type RecordKey, tableOf } from '../engine/schema.ts';
import { type Param, statement } from '../engine/statement.ts';
import { TimeSlices } from '../event-loop.ts';
import type { Link, Resource } from '../model/resource.ts';
import { getResource } from '../model/resources/registry.ts';

const statementsOf = memoize((link: Link) => {
  const { parentColumn, childColumn } = link;
  const table = linkTable(link.table);
  return {
    find: statement<LinkRow>((db, param) =>
      db
        .selectFrom(table)
        .selectAll()
        .$castTo<LinkRow>()
        .where('org_id', '=', param('org'))
        .where(parentColumn, '=', param('parent'))
        .where(childColumn, '=', param('child')),
    ),
    list: statement<LinkRow>((db, param) => page(db, link, param)),
    listOwned: statement<LinkRow>((db, param) =>
      page(db, link, param).where((eb) =>
        eb.or(childrenOf(link).map((child) => eb.exists(ownedChild(db, link, child, param)))),
      ),
    ),
    count: statement<ParentTotal>((db, param) => totals(db, link, param)),
    countOwned: childrenOf(link).map((child) =>
      statement<ParentTotal>((db, param) =>
        totals(db, link, param).where((eb) => eb.exists(ownedChild(db, link, child, param))),
      ),
    ),
  };
});

function page(db: Db, link: Link, param: Param) {
  const child = `link.${link.childColumn}` as const;
  return db
    .selectFrom(`${linkTable(link.table)} as link`)
    .where('link.org_id', '=', param('org'))
    .where(`link.${link.parentColumn}`, '=', param('parent'))
    .selectAll('link')
    .$castTo<LinkRow>()
    .where((eb) =>
      eb(eb.refTuple('link.created_at', child), '<', eb.tuple(param('before'), param('before_id'))),
    )
    .orderBy('link.created_at', 'desc')
    .orderBy(child, 'desc')
    .limit(param('limit'));
}

interface ParentTotal {
  id: string;
  total: number;
}

function totals(db: Db, link: Link, param: Param) {
  const parent = `link.${link.parentColumn}` as const;
  return db
    .selectFrom(`${linkTable(link.table)} as link`)
    .select((eb) => [`${parent} as id`, eb.fn.countAll<number>().as('total')])
    .$castTo<ParentTotal>()
    .where('link.org_id', '=', param('org'))
    .where(db.engine.isAmong(sql.ref(parent), param('parents')))
    .groupBy(parent);
}

// The linked record, if it has that resource and owner; for use in a query of the links.
function ownedChild(db: Db, link: Link, child: Resource, param: Param) {
  return db
    .selectFrom(`${tableOf(child)} as child`)
    .select('child.id')
    .where('child.org_id', '=', param('org'))
    .where('child.id', '=', sql.ref<string>(`link.${link.childColumn}`))
    .where(`child.${child.owner ?? 'created_by'}`, '=', param('owner'));
}

function childrenOf(link: Link): Resource[] {
  return Object.values(link.children).map(getResource);
}

/** The link between a parent and a child. */
export async function findLink(
  db: Db,
  link: Link,
  parent: RecordKey,
  childId: string,
): Promise<LinkRow | undefined> {
  return (await statementsOf(link).find(db, { org: parent.orgNumber, parent: parent.id, child: childId }))[0];
}

/** The position of a link among those of its parent. */
export interface LinkPosition {
  /** Unix milliseconds. */
  createdAt: number;
  childId: string;
}

export interface LinkQuery {
  /** Only children of this owner; null for all of the organization. */
  ownerId: string | null;
  /** The last link of the previous page. */
  after: LinkPosition | null;
  limit: number;
}

// Before the first link.
const END: LinkPosition = { createdAt: Number.MAX_SAFE_INTEGER, childId: '' };

/** Links of a parent, newest first. If an owner is given, links to records of others are left out. */
export async function listLinks(
  db: Db,
  link: Link,
  parent: RecordKey,
  { ownerId, after, limit }: LinkQuery,
): Promise<LinkRow[]> {
  const { list, listOwned } = statementsOf(link);
  const { createdAt, childId } = after ?? END;
  const args = {
    org: parent.orgNumber,
    parent: parent.id,
    owner: ownerId,
    before: createdAt,
    before_id: childId,
    limit,
  };
  return (ownerId === null ? list : listOwned)(db, args);
}

// A parent can have hundreds of thousands of links.
const COUNTED_AT_ONCE = 10;

/** Number of links of each parent that has any; `ownerId` as in `listLinks`. */
export async function countLinks(
  db: Db,
  link: Link,
  { orgNumber, ownerId }: { orgNumber: number; ownerId: string | null },
  parentIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { count, countOwned } = statementsOf(link);
  const counts = new Map<string, number>();
  const turns = new TimeSlices();
  for (let from = 0; from < parentIds.length; from += COUNTED_AT_ONCE) {
    const parents = JSON.stringify(parentIds.slice(from, from + COUNTED_AT_ONCE));
    for (const one of ownerId === null ? [count] : countOwned) {
      if (turns.isOver) await turns.next();
      const rows = await one(db, { org: orgNumber, parents, owner: ownerId });
      for (const { id, total } of rows) counts.set(id, (counts.get(id) ?? 0) + Number(total));
    }
  }
  return counts;
}
