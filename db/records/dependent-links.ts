// Links that go with records that are deleted, or have a field of their own that refers to them.

import { type RawBuilder, sql } from 'kysely';
import { logLinks } from '../changes/changes.ts';
import type { ChangeContext } from '../engine/change-log.ts';
import type { RecordTrx } from '../engine/schema.ts';
import { inParts } from '../event-loop.ts';
import type { ColumnValue } from '../model/fields.ts';
import { childOf } from '../model/links.ts';
import type { Link, Resource, Row } from '../model/resource.ts';
import { kindOf } from '../model/resources/link-kinds.ts';
import { getResource } from '../model/resources/registry.ts';
import type { KindLinkRow } from '../tables/link-lists.ts';
import { type Find, findInPieces, keyOfLast, ROWS_AT_ONCE, type Sought } from './dependent-finds.ts';
import { linkChange } from './link-batches.ts';
import { removeTies, removeTiesOf, setInTies, type Tie, type TieTable } from './ties.ts';

/** Links with a field of their own that refers to the records. */
export function linkFields(link: Link, column: string): Find {
  const find = linksBy(link, column);
  return async (trx, sought) => {
    const { orgNumber, deleted, now } = sought;
    const rows = await find(trx, sought);
    // A link that goes with its child stays as it is until then, for the log.
    const staying = rows.filter((row) => !deleted.has(row.child_id));
    return {
      isCut: rows.length === ROWS_AT_ONCE,
      last: keyOfLast(rows, ['parent_id', 'child_id']),
      release: () => setInTies(trx, link, orgNumber, { column, value: null }, staying),
      note: (target, cause) => {
        const changed = staying.filter((row) => row[column] === target);
        const cleared = changed.map((row) => ({ ...row, [column]: null }));
        return logTies(trx, link, { orgNumber, at: now, cause, action: 'linked' }, cleared);
      },
    };
  };
}

/** Links of the records. */
export function linkRows(link: Link, column: string): Find {
  const find = linksBy(link, column);
  const end = column === link.parentColumn ? 'parent_id' : 'child_id';
  const other = end === 'parent_id' ? 'child_id' : 'parent_id';
  return async (trx, sought) => {
    const { orgNumber, now } = sought;
    const rows = await find(trx, sought);
    return {
      isCut: rows.length === ROWS_AT_ONCE,
      last: keyOfLast(rows, [other]),
      release: () => removeFound(trx, link, sought, column, rows),
      note: (target, cause) => {
        const removed = rows.filter((row) => row[end] === target);
        return logTies(trx, link, { orgNumber, at: now, cause, action: 'unlinked' }, removed);
      },
    };
  };
}

/** Removes rows that were found by the IDs in a column. */
export function removeFound(
  trx: RecordTrx,
  rows: TieTable,
  { orgNumber, ids }: Sought,
  column: string,
  ties: readonly Tie[],
): Promise<void> {
  const [id] = ids;
  return id !== undefined && ids.length === 1
    ? removeTiesOf(trx, rows, orgNumber, { column, id }, ties)
    : removeTies(trx, rows, orgNumber, ties);
}

/** A link with what the log needs of the records at its ends. */
type FoundLink = Row &
  Tie & {
    linked_at: number;
    parent_owner: ColumnValue;
    parent_type: string | null;
    child_owner: ColumnValue;
  };

function linksBy(link: Link, column: string) {
  const { table, parentColumn, childColumn, fields, typedBy, children } = link;
  const { parent } = kindOf(link);
  const of = (name: string) => sql.ref(`tie.${name}`);
  const key = [parentColumn, childColumn].filter((one) => one !== column).map(of);
  const order = [of(column), ...key];
  return findInPieces<FoundLink>(key, (param, isGiven, only) => {
    // Looked up once if it does not depend on the link.
    const inRecord = (resource: Resource, name: string, id: string) =>
      sql`(select ${sql.ref(name)} from ${sql.table(resource.name)} as record
        where record.org_id = ${param('org')} and record.id = ${id === column && only !== null ? only : of(id)})`;
    const ownerOf = (resource: Resource, id: string) =>
      resource.owner === null ? sql`null` : inRecord(resource, resource.owner, id);
    const owners = Object.values(children).map((child) => ownerOf(getResource(child), childColumn));
    const columns = [
      sql`${of(parentColumn)} as parent_id`,
      sql`${of(childColumn)} as child_id`,
      sql`${of('created_at')} as linked_at`,
      ...Object.keys(fields).map((name) => sql`${of(name)} as ${sql.ref(name)}`),
      sql`${ownerOf(parent, parentColumn)} as parent_owner`,
      sql`${typedBy === 'parent' ? inRecord(parent, 'record_type', parentColumn) : sql`null`} as parent_type`,
      sql`${owners.length > 1 ? sql`coalesce(${sql.join(owners)})` : owners[0]} as child_owner`,
    ];
    const isTied = sql`tie.org_id = ${param('org')} and ${isGiven(of(column) as RawBuilder<string>)}`;
    return sql`select ${sql.join(columns)} from ${sql.table(table)} as tie where ${isTied}
      order by ${sql.join(order)}`;
  });
}

async function logTies(
  trx: RecordTrx,
  link: Link,
  context: ChangeContext & { action: 'linked' | 'unlinked' },
  rows: readonly FoundLink[],
): Promise<void> {
  const kind = kindOf(link);
  await inParts(rows, (some) => {
    const links = some.map(({ parent_owner, parent_type: record_type, child_owner, ...row }) => {
      const child = childOf(link, { link: row, parent: { record_type } }) ?? '';
      return linkChange(kind, row as KindLinkRow, child, { parent: parent_owner, child: child_owner });
    });
    return logLinks(trx, kind.parent, context, links);
  });
}
