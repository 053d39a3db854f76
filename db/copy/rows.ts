// Reads the rows of any table in key order, in batches that fit in memory however long the rows are.
import { type RawBuilder, sql } from 'kysely';
import type { TableRow } from '../engine/bulk-insert.ts';
import type { Db } from '../engine/schema.ts';
import { nextTurn } from '../event-loop.ts';
import type { TableShape } from '../maintenance.ts';
import { atDatabase, type CopySource, DatabaseErrorAt } from './database.ts';

const CHARACTERS_PER_BATCH = 1_000_000;
const ROWS_MAX = 1_000;
const ROWS_FIRST = 20;

/** A table, and which of its rows to read. */
export interface CopiedTable extends TableShape {
  only: RawBuilder<unknown>;
}

/** The rows of a table in one of two databases, as `readRows`; an error names the database. */
export async function* readRowsOf(
  { db, read }: CopySource,
  table: CopiedTable,
  after?: TableRow,
): AsyncGenerator<TableRow[]> {
  try {
    yield* readRows(read, table, after);
  } catch (error) {
    throw new DatabaseErrorAt(db, error);
  }
}

/** The rows after those with a key; all rows by default. */
export async function* readRows(
  read: Db,
  table: Omit<CopiedTable, 'selfReferences'>,
  after?: TableRow,
): AsyncGenerator<TableRow[]> {
  let last = after;
  let rowsMax = ROWS_FIRST;
  for (;;) {
    const rows = await readSome(read, table, last, rowsMax);
    if (rows.length === 0) return;
    yield rows;
    // A file answers at once, without a turn in which the other database's connection is served.
    await nextTurn();
    last = rows.at(-1);
    const fitting = Math.floor((rows.length * CHARACTERS_PER_BATCH) / charactersIn(rows));
    rowsMax = Math.max(1, Math.min(ROWS_MAX, 2 * rowsMax, fitting));
  }
}

async function readSome(
  read: Db,
  table: Omit<CopiedTable, 'selfReferences'>,
  last: TableRow | undefined,
  rowsMax: number,
): Promise<TableRow[]> {
  const { name, columns, only } = table;
  const isAfter = last === undefined ? sql`true` : sql`${keyOf(table)} > ${valuesOf(table, last)}`;
  const { rows } = await sql<TableRow>`
    select ${sql.join(columns.map((column) => sql.ref(column)))} from ${sql.table(name)}
    where ${only} and ${isAfter} order by ${sql.join(ordered(table, sql`asc`))} limit ${rowsMax}`.execute(
    read,
  );
  return rows;
}

function keyOf({ key }: Pick<CopiedTable, 'key'>): RawBuilder<unknown> {
  return sql`(${sql.join(key.map((column) => sql.ref(column)))})`;
}

function valuesOf({ key }: Pick<CopiedTable, 'key'>, row: TableRow): RawBuilder<unknown> {
  return sql`(${sql.join(key.map((column) => row[column]))})`;
}

function ordered({ key }: Pick<CopiedTable, 'key'>, direction: RawBuilder<unknown>): RawBuilder<unknown>[] {
  return key.map((column) => sql`${sql.ref(column)} ${direction}`);
}

function charactersIn(rows: readonly TableRow[]): number {
  let total = 1;
  for (const row of rows) {
    for (const name in row) {
      const value = row[name];
      if (typeof value === 'string' || value instanceof Uint8Array) total += value.length;
    }
  }
  return total;
}

/** The key of the last row in key order. */
export function lastKey(from: CopySource, table: CopiedTable): Promise<TableRow | undefined> {
  const { name, key, only } = table;
  const query = sql<TableRow>`
    select ${sql.join(key.map((column) => sql.ref(column)))} from ${sql.table(name)}
    where ${only} order by ${sql.join(ordered(table, sql`desc`))} limit 1`;
  return atDatabase(from, async () => (await query.execute(from.read)).rows[0]);
}

/** Number of rows, optionally up to those with a key. */
export function countRows(
  from: CopySource,
  table: CopiedTable,
  upTo: TableRow | undefined = undefined,
): Promise<number> {
  const { name, only } = table;
  const isCounted = upTo === undefined ? sql`true` : sql`${keyOf(table)} <= ${valuesOf(table, upTo)}`;
  const query = sql<{ total: number }>`
    select count(*) as total from ${sql.table(name)} where ${only} and ${isCounted}`;
  return atDatabase(from, async () => Number((await query.execute(from.read)).rows[0]?.total ?? 0));
}
