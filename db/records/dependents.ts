// What depends on records that are deleted: references to them, and rows that belong to them or tie them to other records.

import { type RawBuilder, sql } from 'kysely';
import { memoize } from '../cache.ts';
import { type ChangedReference, logReferences } from '../changes/changes.ts';
import { packIds } from '../changes/packed-ids.ts';
import { type Db, type RecordRow, type RecordTrx, tableOf } from '../engine/schema.ts';
import { type Param, statement } from '../engine/statement.ts';
import { inParts, TimeSlices } from '../event-loop.ts';
import type { Field } from '../model/fields.ts';
import type { Resource, SideTable } from '../model/resource.ts';
import { RESOURCES } from '../model/resources/registry.ts';
import {
  type Find,
  type Found,
  findInPieces,
  isInPiece,
  keyOfLast,
  pieceOf,
  ROWS_AT_ONCE,
  type RowKey,
} from './dependent-finds.ts';
import { linkFields, linkRows, removeFound } from './dependent-links.ts';
import type { Tie } from './ties.ts';

// Two megabytes in the log.
/** How many records of one kind a deleted record is tied to again when it is restored. */
const TIED_MAX = 100_000;

/** Records of one resource that are about to be deleted. */
export interface Deletion {
  orgNumber: number;
  rows: readonly RecordRow[];
  /** Unix milliseconds. */
  now: number;
}

/**
 * Clears references to the records, and removes the rows that belong to them or link to them. In the log, all that the delete
 * of a record causes follows it.
 * @param noteDelete notes the delete of a record, and returns its sequence number; `tied` are the records that it was tied to
 */
export async function releaseDependents(
  trx: RecordTrx,
  resource: Resource,
  { orgNumber, rows, now }: Deletion,
  noteDelete: (row: RecordRow, tied: Record<string, string>) => Promise<number>,
): Promise<void> {
  const turns = new TimeSlices();
  const deleted = new Set(rows.map(({ id }) => id));
  const atFirst = findsOf(resource).map((find) => ({ find, after: null as RowKey | null }));
  const findAll = (ids: readonly string[], places: typeof atFirst) =>
    // All are sent before the first is answered.
    Promise.all(places.map(({ find, after }) => find(trx, { orgNumber, ids, after, deleted, now })));
  const all = await findAll([...deleted], atFirst);
  const areAllFound = all.every(({ isCut }) => !isCut);
  for (const row of rows) {
    let places = atFirst;
    let found = areAllFound || rows.length === 1 ? all : await findAll([row.id], places);
    const cause = await noteDelete(row, await tiedTo(row.id, found));
    while (found.length > 0) {
      for (const { note, release } of found) {
        await note(row.id, cause);
        if (!areAllFound) await release();
        if (turns.isOver) await turns.next();
      }
      places = places.flatMap(({ find }, index) => {
        const { isCut = false, last = null } = found[index] ?? {};
        return isCut ? [{ find, after: last }] : [];
      });
      found = areAllFound ? [] : await findAll([row.id], places);
    }
  }
  if (areAllFound) for (const { release } of all) await release();
}

// By table, packed.
async function tiedTo(id: string, found: readonly Found[]): Promise<Record<string, string>> {
  const tied: Record<string, string> = {};
  for (const one of found) {
    const { table = '', ids = [] } = (await one.tied?.(id)) ?? {};
    if (ids.length > 0) tied[table] = packIds(ids);
  }
  return tied;
}

const findsOf = memoize((resource: Resource): readonly Find[] =>
  RESOURCES.flatMap((other) => [
    ...columnsTo(resource, other.fields).map((column) => references(other, column)),
    ...Object.values(other.links).flatMap((link) =>
      columnsTo(resource, link.fields).map((column) => linkFields(link, column)),
    ),
    ...Object.values(other.links).flatMap((link) =>
      columnsOfSide(resource, other, link).map((column) => linkRows(link, column)),
    ),
    ...other.sideTables.flatMap((rows) =>
      columnsOfSide(resource, other, rows).map((column) => sideRows(rows, column)),
    ),
  ]),
);

/** The stored fields with IDs of the resource. */
export function columnsTo({ name: target }: Resource, fields: Readonly<Record<string, Field>>): string[] {
  return Object.entries(fields).flatMap(([name, { references, column }]) =>
    references === target && column !== null ? [name] : [],
  );
}

// The columns of a side table with IDs of the resource. Rows that are found by their values are removed by these.
function columnsOfSide(resource: Resource, parent: Resource, rows: SideTable): string[] {
  const { parentColumn, childColumn, children, holds } = rows;
  return [
    ...(parent.name === resource.name && holds === undefined ? [parentColumn] : []),
    ...(Object.values(children).includes(resource.name) ? [childColumn] : []),
  ];
}

/** A record that refers to one that is deleted. */
interface Referrer extends ChangedReference {
  target: string;
}

function references(resource: Resource, column: string): Find {
  const table = tableOf(resource);
  const owner = resource.owner === null ? sql`null` : sql.ref(resource.owner);
  const association = Object.values(resource.associations).find((one) => one.column === column);
  const linkedAt = association === undefined ? sql`` : sql`, ${sql.ref(association.linkedAt)} as linked_at`;
  // A company that is deleted has no use for their updates.
  const company =
    resource.fields.company_id === undefined || column === 'company_id' ? sql`` : sql`, company_id`;
  const find = findInPieces<Referrer>([sql.ref('id')], (param, isGiven) => {
    const refers = sql`org_id = ${param('org')} and ${isGiven(sql.ref(column))}`;
    const columns = sql`id, ${sql.ref(column)} as target, ${owner} as owner${linkedAt}${company}`;
    return sql`select ${columns} from ${sql.table(table)} where ${refers} order by ${sql.ref(column)}, id`;
  });
  const clearing = (isCleared: (db: Db, param: Param) => RawBuilder<boolean>) =>
    statement<never>((db, param) =>
      db
        .updateTable(table)
        .set({ [column]: null, updated_at: param('now') } as never)
        .where('org_id', '=', param('org'))
        .where(isCleared(db, param)),
    );
  const clear = clearing((db, param) => db.engine.isAmong(sql.ref('id'), param('ids')));
  const clearPiece = clearing((_, param) => isInPiece(param, column, 'id'));
  return async (trx, sought) => {
    const { orgNumber, ids, deleted, now } = sought;
    const [target = ''] = ids;
    const rows = await find(trx, sought);
    return {
      isCut: rows.length === ROWS_AT_ONCE,
      last: keyOfLast(rows, ['id']),
      release: () =>
        inParts(rows, (some) =>
          ids.length === 1
            ? clearPiece(trx, { org: orgNumber, now, ...pieceOf(target, some, 'id') })
            : clear(trx, { org: orgNumber, now, ids: JSON.stringify(some.map(({ id }) => id)) }),
        ),
      note: (target, cause) => {
        // A record that is deleted as well is logged as it was.
        const cleared = rows.filter((row) => row.target === target && !deleted.has(row.id));
        const change = { column, before: target, after: null };
        return inParts(cleared, (some) =>
          logReferences(trx, resource, { orgNumber, at: now, cause }, change, some),
        );
      },
    };
  };
}

// Rows that clients do not see.
function sideRows(side: SideTable, column: string): Find {
  const { table, parentColumn, childColumn } = side;
  const columns = sql`${sql.ref(parentColumn)} as parent_id, ${sql.ref(childColumn)} as child_id`;
  const isByParent = column === parentColumn;
  const other = isByParent ? 'child_id' : 'parent_id';
  const key = sql.ref(isByParent ? childColumn : parentColumn);
  const order = sql`${sql.ref(column)}, ${key}`;
  const find = findInPieces<Tie>([key], (param, isGiven) => {
    const isTied = sql`org_id = ${param('org')} and ${isGiven(sql.ref(column))}`;
    return sql`select ${columns} from ${sql.table(table)} where ${isTied} order by ${order}`;
  });
  return async (trx, sought) => {
    const rows = await find(trx, sought);
    const tied = async (id: string) => {
      const turns = new TimeSlices();
      const ids = rows.filter((row) => row.child_id === id).map((row) => row.parent_id);
      for (let some = rows; some.length === ROWS_AT_ONCE && ids.length < TIED_MAX; ) {
        some = await find(trx, { ...sought, ids: [id], after: keyOfLast(some, ['parent_id']) });
        for (const row of some) ids.push(row.parent_id);
        if (turns.isOver) await turns.next();
      }
      return { table, ids };
    };
    return {
      isCut: rows.length === ROWS_AT_ONCE,
      last: keyOfLast(rows, [other]),
      release: () => removeFound(trx, side, sought, column, rows),
      note: async () => undefined,
      ...(!isByParent && { tied }),
    };
  };
}
