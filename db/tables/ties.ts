// Rows that tie two records to each other: many of them removed or changed by one statement.

import { memoize } from '../cache.ts';
import { type Db, linkTable, type Trx } from '../engine/schema.ts';
import { type Param, type Statement, statement } from '../engine/statement.ts';
import type { SideTable } from '../model/resource.ts';

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

/** Makes a function that sets a column of rows to null. */
export function clearingTies(
  rows: TieTable,
  column: string,
): (trx: Trx, orgNumber: number, ties: readonly Tie[]) => Promise<void> {
  const clear = statement<never>((db, param) =>
    db
      .updateTable(linkTable(rows.table))
      .set({ [column]: null } as never)
      .where('org_id', '=', param('org'))
      .where(isGiven(db, rows, param)),
  );
  return (trx, orgNumber, ties) => change(clear, trx, orgNumber, ties);
}

function isGiven({ engine }: Db, { table, parentColumn, childColumn }: TieTable, param: Param) {
  return engine.isPairAmong({ table, first: parentColumn, second: childColumn }, param('org'), param('ties'));
}

async function change(run: Statement<never>, trx: Trx, org: number, ties: readonly Tie[]): Promise<void> {
  if (ties.length === 0) return;
  await run(trx, { org, ties: JSON.stringify(ties.map(({ parent_id, child_id }) => [parent_id, child_id])) });
}
