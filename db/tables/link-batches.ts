// Links of one kind under several parents: looked up together, and written together.
import { sql } from 'kysely';
import { memoize } from '../cache.ts';
import { bulkInsert } from '../engine/bulk-insert.ts';
import { type Db, linkTable, type Trx, tableOf } from '../engine/schema.ts';
import { lookup, statement, written } from '../engine/statement.ts';
import type { Resource, Row } from '../model/resource.ts';
import type { LinkKind } from '../model/resources/link-kinds.ts';
import { columnsOfLink, type KindLinkRow } from './link-lists.ts';
import { deleteLink } from './links.ts';

/** What links depend on in a record at one end of them: the type of record that it takes, and its owner if asked for. */
export type LinkEnd = Row & { id: string };

const ends = memoize((resource: Resource) => {
  const type = 'record_type' in resource.fields ? ['record_type'] : [];
  const find = (names: readonly string[]) =>
    lookup<LinkEnd>((db, param, isGiven) =>
      db
        .selectFrom(tableOf(resource))
        .select(names)
        .$castTo<LinkEnd>()
        .where('org_id', '=', param('org'))
        .where(isGiven(sql.ref('id'))),
    );
  return { bare: find(['id', ...type]), owned: find(['id', ...type, resource.owner ?? 'created_by']) };
});

/** The records with these IDs, in no order; without their owners, an index alone has most of them. */
export async function findLinkEnds(
  db: Db,
  resource: Resource,
  { orgNumber, ids, hasOwner }: { orgNumber: number; ids: readonly string[]; hasOwner: boolean },
): Promise<LinkEnd[]> {
  const { bare, owned } = ends(resource);
  return (hasOwner ? owned : bare)(db, orgNumber, ids);
}

/** Identifies a link of one kind. */
export type LinkKey = Pick<KindLinkRow, 'parent_id' | 'child_id'>;

const statementsOf = memoize((kind: LinkKind) => {
  const { table, parentColumn, childColumn, fields } = kind.link;
  const own = Object.keys(fields);
  return {
    find: statement<Row & LinkKey>((db, param) => {
      // As subqueries, so that every plan looks up one link after another.
      const found = columnsOfLink(kind).map(([name, column]) => {
        const ends = sql`link.${sql.ref(parentColumn)} = pair.first and link.${sql.ref(childColumn)} = pair.second`;
        return sql`(select ${column} from ${sql.table(table)} as link
          where link.org_id = ${param('org')} and ${ends}) as ${sql.ref(name)}`;
      });
      const columns = sql.join([sql`pair.first as parent_id, pair.second as child_id`, ...found]);
      return written(db, sql`select ${columns} from ${db.engine.pairsIn(param('pairs'))} as pair`);
    }),
    insert: bulkInsert(table, ['org_id', parentColumn, childColumn, 'created_at', ...own]),
    change: statement<never>((db, param) =>
      db
        .updateTable(linkTable(table))
        .set(Object.fromEntries(own.map((name) => [name, param(name)])))
        .where('org_id', '=', param('org'))
        .where(parentColumn, '=', param('parent_id'))
        .where(childColumn, '=', param('child_id')),
    ),
  };
});

const associating = memoize(({ parent, association }: LinkKind) =>
  statement<never>((db, param) => {
    if (association === null) throw new Error(`links of ${parent.name} have a table of their own`);
    const { column, linkedAt } = association;
    return db
      .updateTable(tableOf(parent))
      .set({ [column]: param('child_id'), [linkedAt]: param('linked_at'), updated_at: param('now') })
      .where('org_id', '=', param('org'))
      .where('id', '=', param('parent_id'));
  }),
);

/** Those of the links that exist, in no order. */
export async function findLinks(
  db: Db,
  kind: LinkKind,
  orgNumber: number,
  keys: readonly LinkKey[],
): Promise<KindLinkRow[]> {
  const pairs = JSON.stringify(keys.map(({ parent_id, child_id }) => [parent_id, child_id]));
  const rows = await statementsOf(kind).find(db, { org: orgNumber, pairs });
  return rows.filter((row): row is KindLinkRow => row.linked_at !== null);
}

/** Adds links; an association replaces the one that the parent has. */
export async function insertLinks(
  trx: Trx,
  kind: LinkKind,
  orgNumber: number,
  rows: readonly KindLinkRow[],
): Promise<void> {
  if (kind.association !== null) {
    for (const row of rows) await associating(kind)(trx, { ...row, org: orgNumber, now: row.linked_at });
    return;
  }
  const { parentColumn, childColumn } = kind.link;
  const stored = rows.map(({ parent_id, child_id, linked_at, ...own }) => ({
    ...{ org_id: orgNumber, [parentColumn]: parent_id, [childColumn]: child_id, created_at: linked_at },
    ...own,
  }));
  await statementsOf(kind).insert(trx, stored);
}

/** Stores the own fields of links. */
export async function updateLinks(
  trx: Trx,
  kind: LinkKind,
  orgNumber: number,
  rows: readonly KindLinkRow[],
): Promise<void> {
  for (const row of rows) await statementsOf(kind).change(trx, { ...row, org: orgNumber });
}

/**
 * Removes links that exist.
 * @param now Unix milliseconds
 */
export async function deleteLinks(
  trx: Trx,
  kind: LinkKind,
  orgNumber: number,
  { keys, now }: { keys: readonly LinkKey[]; now: number },
): Promise<void> {
  for (const { parent_id, child_id } of keys) {
    if (kind.association === null) await deleteLink(trx, kind.link, { orgNumber, id: parent_id }, child_id);
    else await associating(kind)(trx, { parent_id, child_id: null, linked_at: null, org: orgNumber, now });
  }
}
