// Inserts several rows with one statement, which takes half as long as one statement per row.

import { sql } from 'kysely';
import { memoize } from '../cache.ts';
import { TimeSlices } from '../event-loop.ts';
import { andThen, type Eventually, type PreparedQuery, type StoredValue } from './engine.ts';
import type { Trx } from './schema.ts';
import type { Repeats, TransactionEngine } from './transaction.ts';

// Larger numbers gain nothing.
const ROWS_PER_STATEMENT = [25, 5];

/** A row of any table, by column. */
export type TableRow = { [column: string]: StoredValue };

/** Inserts rows into a table; a column that a row leaves out is null. */
export type BulkInsert = (db: Trx, rows: readonly Readonly<TableRow>[]) => Eventually<void>;

/**
 * Makes a function that inserts rows with those columns; each connection prepares its statements on first use.
 * @param repeats what happens to rows whose key exists
 */
export function bulkInsert(table: string, columns: readonly string[], repeats: Repeats = 'fail'): BulkInsert {
  const prepare = (size: number) => statementOf(table, columns, size, repeats);
  const single = prepare(1);
  const several = ROWS_PER_STATEMENT.map((size) => ({ size, on: prepare(size) }));
  const statements = [...several, { size: 1, on: single }];
  const whole = memoize((engine: TransactionEngine) => {
    const query = engine.insertOf(table, columns, repeats);
    return query && engine.bind(query);
  });
  const inSteps = async (db: Trx, rows: readonly Readonly<TableRow>[]): Promise<void> => {
    let done = 0;
    const turns = new TimeSlices();
    for (const { size, on } of statements) {
      for (; rows.length - done >= size; done += size) {
        await on(db)(valuesOf(columns, rows.slice(done, done + size)));
        // A hundred rows can contain 30 MB of text, and the next step takes as long again.
        if (turns.isOver) await turns.next();
      }
    }
  };
  return (db, rows) => {
    if (rows.length === 0) return;
    const writeAll = whole(db.engine);
    if (writeAll === null && rows.length > 1) return inSteps(db, rows);
    const writing =
      writeAll === null
        ? single(db)(valuesOf(columns, rows))
        : writeAll([JSON.stringify(rows.map(withBytesAsText))]);
    return andThen(writing, () => undefined);
  };
}

function statementOf(
  table: string,
  columns: readonly string[],
  size: number,
  repeats: Repeats,
): (db: Trx) => PreparedQuery<unknown> {
  const row = Object.fromEntries(columns.map((column) => [column, null]));
  const rows = Array.from({ length: size }, () => row);
  return memoize((db: Trx) => {
    const insert = db.insertInto(table as 'records').values(rows as never);
    if (repeats === 'fail') return db.engine.bind(insert.compile());
    const repeatable = insert.onConflict((conflict) => {
      if (repeats === 'are left out') return conflict.doNothing();
      const changed = columns.filter((column) => !repeats.key.includes(column));
      const set = Object.fromEntries(changed.map((column) => [column, sql.ref(`excluded.${column}`)]));
      return conflict.columns(repeats.key as never).doUpdateSet(set as never);
    });
    return db.engine.bind(repeatable.compile());
  });
}

function valuesOf(columns: readonly string[], rows: readonly Readonly<TableRow>[]): StoredValue[] {
  const values = new Array<StoredValue>(rows.length * columns.length);
  let at = 0;
  for (const row of rows) for (const column of columns) values[at++] = row[column] ?? null;
  return values;
}

// The format in which the engine that receives rows as JSON reads bytes.
function withBytesAsText(row: Readonly<TableRow>): Readonly<TableRow> {
  let shown: TableRow | null = null;
  for (const name in row) {
    const value = row[name];
    if (!(value instanceof Uint8Array)) continue;
    shown ??= { ...row };
    shown[name] = `\\x${value.toHex()}`;
  }
  return shown ?? row;
}
