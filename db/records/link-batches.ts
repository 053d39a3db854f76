// Links of one kind, under one parent or several: looked up together, and written together.
import { sql } from 'kysely';
import { memoize } from '../cache.ts';
import { type LinkChange, logLinks, ownerOf } from '../changes/changes.ts';
import { bulkInsert } from '../engine/bulk-insert.ts';
import { type Db, linkTable, type RecordTrx, tableOf } from '../engine/schema.ts';
import { lookup, statement, written } from '../engine/statement.ts';
import type { ColumnValue } from '../model/fields.ts';
import { childOf } from '../model/links.ts';
import type { Association, Resource, Row } from '../model/resource.ts';
import type { LinkKind } from '../model/resources/link-kinds.ts';
import { getResource } from '../model/resources/registry.ts';
import { columnsOfLink, type KindLinkRow } from '../tables/link-lists.ts';
import { hideUnlinked, showLinked } from '../timeline/links.ts';
import { updateReservedRecords } from './record-updates.ts';
import { findRecords } from './records.ts';
import { removeTies, setInTies, type Tie } from './ties.ts';

/** What links depend on in a record at one end of them: the type of record that it takes, its owner, and what timelines need. */
export type LinkEnd = Row & { id: string };

const ON_TIMELINES = ['company_id', 'point_of_contact_id'];

const ends = memoize((resource: Resource) => {
  const type = ['record_type', ...ON_TIMELINES].filter((name) => name in resource.fields);
  return lookup<LinkEnd>((db, param, isGiven) =>
    db
      .selectFrom(tableOf(resource))
      .select(['id', 'created_at', ...type, resource.owner ?? 'created_by'])
      .$castTo<LinkEnd>()
      .where('org_id', '=', param('org'))
      .where(isGiven(sql.ref('id'))),
  );
});

/** The records with these IDs, in no order. */
export async function findLinkEnds(
  db: Db,
  resource: Resource,
  orgNumber: number,
  ids: readonly string[],
): Promise<LinkEnd[]> {
  return ends(resource)(db, orgNumber, ids);
}

const statementsOf = memoize((kind: LinkKind) => {
  const { table, parentColumn, childColumn, fields } = kind.link;
  const own = Object.keys(fields);
  return {
    find: statement<KindLinkRow>((db, param) => {
      const columns = columnsOfLink(kind).map(([name, column]) => sql`${column} as ${sql.ref(name)}`);
      const ends = sql`${sql.ref(parentColumn)} as parent_id, ${sql.ref(childColumn)} as child_id`;
      const isGiven = db.engine.isPairAmong(
        { table, first: parentColumn, second: childColumn },
        param('org'),
        param('pairs'),
      );
      return written(
        db,
        sql`select ${sql.join([ends, ...columns])} from ${sql.table(table)} as link
          where org_id = ${param('org')} and ${isGiven}`,
      );
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

/** Those of the links that exist, in no order. */
export async function findLinks(
  db: Db,
  kind: LinkKind,
  orgNumber: number,
  ties: readonly Tie[],
): Promise<KindLinkRow[]> {
  const pairs = JSON.stringify(ties.map(({ parent_id, child_id }) => [parent_id, child_id]));
  return statementsOf(kind).find(db, { org: orgNumber, pairs });
}

/** Where and when links are written. */
export interface LinkWriting {
  orgNumber: number;
  /** Unix milliseconds. */
  now: number;
  /** The sequence number of the change that causes them; by default, none does. */
  cause?: number;
  /** A record at an end of the links, by resource and ID. */
  end(resource: string, id: string): LinkEnd | undefined;
}

/** Adds links; an association replaces the one that the parent has. */
export async function insertLinks(
  trx: RecordTrx,
  kind: LinkKind,
  writing: LinkWriting,
  rows: readonly KindLinkRow[],
): Promise<void> {
  if (kind.association !== null) return associate(trx, kind, kind.association, writing, rows);
  const { parentColumn, childColumn, fields } = kind.link;
  const stored = rows.map((row) => {
    const columns: Row = {
      org_id: writing.orgNumber,
      [parentColumn]: row.parent_id,
      [childColumn]: row.child_id,
      created_at: row.linked_at,
    };
    for (const name in fields) columns[name] = row[name] ?? null;
    return columns;
  });
  await statementsOf(kind).insert(trx, stored);
  await showLinked(trx, kind, writing, rows);
  await note(trx, kind, writing, 'linked', rows);
}

/** Stores the own fields of links. */
export async function updateLinks(
  trx: RecordTrx,
  kind: LinkKind,
  writing: LinkWriting,
  rows: readonly KindLinkRow[],
): Promise<void> {
  for (const row of rows) await statementsOf(kind).change(trx, { ...row, org: writing.orgNumber });
  await note(trx, kind, writing, 'linked', rows);
}

/** Stores a value in own fields of links in which they are null. */
export async function fillLinks(
  trx: RecordTrx,
  kind: LinkKind,
  writing: LinkWriting,
  { columns, value }: { columns: readonly string[]; value: string },
  links: readonly KindLinkRow[],
): Promise<void> {
  const filled = new Map<KindLinkRow, KindLinkRow>();
  for (const column of columns) {
    const unset = links.filter((row) => row[column] === null);
    await setInTies(trx, kind.link, writing.orgNumber, { column, value }, unset);
    for (const row of unset) filled.set(row, { ...(filled.get(row) ?? row), [column]: value });
  }
  await note(trx, kind, writing, 'linked', [...filled.values()]);
}

/** Removes links that exist. */
export async function deleteLinks(
  trx: RecordTrx,
  kind: LinkKind,
  writing: LinkWriting,
  rows: readonly KindLinkRow[],
): Promise<void> {
  if (kind.association !== null) {
    const cleared = rows.map((row) => ({ ...row, child_id: null, linked_at: null }));
    return associate(trx, kind, kind.association, writing, cleared);
  }
  await removeTies(trx, kind.link, writing.orgNumber, rows);
  await hideUnlinked(trx, kind, writing, rows);
  await note(trx, kind, writing, 'unlinked', rows);
}

// An association is a field of the parent.
async function associate(
  trx: RecordTrx,
  { parent }: LinkKind,
  { column, linkedAt }: Association,
  { orgNumber, now }: LinkWriting,
  links: readonly { parent_id: string; child_id: string | null; linked_at: number | null }[],
): Promise<void> {
  const ids = links.map(({ parent_id }) => parent_id);
  const rows = new Map((await findRecords(trx, parent, orgNumber, ids)).map((row) => [row.id, row]));
  const updates = links.flatMap(({ parent_id, child_id, linked_at }) => {
    const row = rows.get(parent_id);
    const columns = { [column]: child_id, [linkedAt]: linked_at, updated_at: now };
    return row === undefined ? [] : [{ row, columns }];
  });
  await updateReservedRecords(trx, parent, orgNumber, updates);
}

async function note(
  trx: RecordTrx,
  kind: LinkKind,
  { orgNumber, now, cause, end }: LinkWriting,
  action: 'linked' | 'unlinked',
  rows: readonly KindLinkRow[],
): Promise<void> {
  if (rows.length === 0) return;
  const links = rows.map((row) => {
    const parent = end(kind.parent.name, row.parent_id);
    const child = childOf(kind.link, { link: row, parent }) ?? '';
    const owners = {
      parent: ownerIn(kind.parent, parent),
      child: ownerIn(getResource(child), end(child, row.child_id)),
    };
    return linkChange(kind, row, child, owners);
  });
  await logLinks(trx, kind.parent, { orgNumber, at: now, cause, action }, links);
}

function ownerIn(resource: Resource, record: LinkEnd | undefined): ColumnValue {
  return record === undefined ? null : ownerOf(resource, record);
}

/**
 * A link as the log of changes has it.
 * @param child the resource of the child
 * @param owners of the records at its ends
 */
export function linkChange(
  { ownName, link }: LinkKind,
  row: KindLinkRow,
  child: string,
  owners: { parent: ColumnValue; child: ColumnValue },
): LinkChange {
  const { parent_id, child_id: id, linked_at } = row;
  const fields: Row = {};
  for (const own in link.fields) fields[own] = row[own] ?? null;
  const values = { name: ownName, resource: child, id, linked_at, fields, owner: owners.child };
  return { parent: parent_id, parentOwner: owners.parent, values };
}
