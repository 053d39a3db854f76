// Copies a database table by table, in key order, so that the existing rows show where to continue.
import { sql } from 'kysely';
import { bulkInsert, type TableRow } from '../engine/bulk-insert.ts';
import { listTables } from '../maintenance.ts';
import { CONTENT_SETTINGS } from '../tables/settings.ts';
import { atDatabase, type CopySource, type CopyTarget } from './database.ts';
import { type CopiedTable, countRows, lastKey, readRowsOf } from './rows.ts';

/** The tables with the rows to copy, without internal rows. */
export async function tablesToCopy(): Promise<CopiedTable[]> {
  const only: Record<string, CopiedTable['only']> = {
    // Row 0 is the lock of what belongs to no organization.
    org_clocks: sql`org_id > 0`,
    settings: sql`name in (${sql.join(CONTENT_SETTINGS)})`,
  };
  return (await listTables()).map((table) => ({ ...table, only: only[table.name] ?? sql`true` }));
}

export interface RowCounts {
  /** Number of rows to copy. */
  total: number;
  /** Rows that an earlier run has copied. */
  done: number;
}

/** Counts the rows of the tables. */
export async function countAllRows(
  from: CopySource,
  to: CopySource,
  tables: readonly CopiedTable[],
): Promise<RowCounts> {
  const counts = { total: 0, done: 0 };
  for (const table of tables) {
    counts.total += await countRows(from, table);
    const last = await lastKey(to, table);
    if (last !== undefined) counts.done += await countRows(from, table, last);
  }
  return counts;
}

/** Copies the rows of a table that the target does not have yet; `onRows` receives their number. */
export async function copyTable(
  from: CopySource,
  to: CopyTarget,
  table: CopiedTable,
  onRows: (count: number) => void,
): Promise<void> {
  const insert = bulkInsert(table.name, table.columns);
  const { selfReferences } = table;
  for await (const rows of readRowsOf(from, table, await lastKey(to, table))) {
    const known = selfReferences.length === 0 ? rows : rows.map((row) => withoutLater(row, selfReferences));
    await atDatabase(to, () => to.write('accounts', async (trx) => insert(trx, known)));
    onRows(rows.length);
  }
  for (const column of selfReferences) await referToLater(from, to, table, column);
}

// A row can refer to a later one, which the target does not have yet.
function withoutLater(row: TableRow, selfReferences: readonly string[]): TableRow {
  const known = { ...row };
  for (const column of selfReferences) if (String(row[column]) > String(row.id)) known[column] = null;
  return known;
}

async function referToLater(
  from: CopySource,
  to: CopyTarget,
  table: CopiedTable,
  column: string,
): Promise<void> {
  const only = sql`${sql.ref(column)} > ${sql.ref('id')}`;
  for await (const rows of readRowsOf(from, { ...table, only })) {
    const updates = rows.map(
      ({ org_id: orgNumber, id, [column]: other }) =>
        sql`update ${sql.table(table.name)} set ${sql.ref(column)} = ${other} where org_id = ${orgNumber} and id = ${id}`,
    );
    await atDatabase(to, () =>
      to.write('accounts', async (trx) => {
        for (const update of updates) await update.execute(trx);
      }),
    );
  }
}
