// Rows that tie two records to each other: many of them removed or changed by one statement.

import { memoize } from '../cache.ts';
import { type Db, linkTable, type Trx } from '../engine/schema.ts';
import { type Param, type Statement, statement } from '../engine/statement.ts';
import { inParts } from '../event-loop.ts';
import type { SideTable } from '../model/resource.ts';
import { isInPiece, pieceOf } from './dependent-finds.ts';

/** The IDs in the columns of the parent and the child, which identify a row. */
export interface Tie {
  parent_id: string;
  child_id: string;
}

/** What identifies the rows of a table of ties. */
export type TieTable = Pick<SideTable, 'table' | 'parentColumn' | 'childColumn'>;

const removal = memoize((rows: TieTable) =>
  statement<never>((db, param) =>
    db
      .deleteFrom(linkTable(rows.table))
      .where('org_id', '=', param('org'))
      .where(isGiven(db, rows, param)),
  ),
);

/** Removes rows, as far as they exist. */
export function removeTies(trx: Trx, rows: TieTable, orgNumber: number, ties: readonly Tie[]): Promise<void> {
  return change(removal(rows), trx, orgNumber, ties);
}

// Statements about rows by one of their columns.
function byColumn(make: (rows: TieTable, column: string) => Statement<never>) {
  const made = memoize((_: TieTable) => new Map<string, Statement<never>>());
  return (rows: TieTable, column: string) => made(rows).getOrInsertComputed(column, () => make(rows, column));
}

const pieceRemoval = byColumn((rows, column) =>
  statement<never>((db, param) =>
    db
      .deleteFrom(linkTable(rows.table))
      .where('org_id', '=', param('org'))
      .where(isInPiece(param, column, otherEnd(rows, column).column)),
  ),
);

function otherEnd(
  { parentColumn, childColumn }: TieTable,
  column: string,
): { column: string; name: keyof Tie } {
  return column === parentColumn
    ? { column: childColumn, name: 'child_id' }
    : { column: parentColumn, name: 'parent_id' };
}

/** Removes rows that have the ID of a record in a column, and follow each other in the order of the other one. */
export function removeTiesOf(
  trx: Trx,
  rows: TieTable,
  orgNumber: number,
  { column, id }: { column: string; id: string },
  ties: readonly Tie[],
): Promise<void> {
  const run = pieceRemoval(rows, column);
  const { name } = otherEnd(rows, column);
  return inParts(ties, (some) => run(trx, { org: orgNumber, ...pieceOf(id, some, name) }));
}

const setting = byColumn((rows, column) =>
  statement<never>((db, param) =>
    db
      .updateTable(linkTable(rows.table))
      .set({ [column]: param('value') } as never)
      .where('org_id', '=', param('org'))
      .where(isGiven(db, rows, param)),
  ),
);

/** Sets a column of rows to the same value, as far as the rows exist. */
export function setInTies(
  trx: Trx,
  rows: TieTable,
  orgNumber: number,
  { column, value }: { column: string; value: string | null },
  ties: readonly Tie[],
): Promise<void> {
  return change(setting(rows, column), trx, orgNumber, ties, value);
}

function isGiven({ engine }: Db, { table, parentColumn, childColumn }: TieTable, param: Param) {
  return engine.isPairAmong({ table, first: parentColumn, second: childColumn }, param('org'), param('ties'));
}

function change(
  run: Statement<never>,
  trx: Trx,
  org: number,
  ties: readonly Tie[],
  value: string | null = null,
): Promise<void> {
  return inParts(ties, (some) => {
    const pairs = some.map(({ parent_id, child_id }) => [parent_id, child_id]);
    return run(trx, { org, ties: JSON.stringify(pairs), value });
  });
}
