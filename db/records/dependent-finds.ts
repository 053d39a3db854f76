// Finding what depends on records that are deleted, some rows at a time.
import { type RawBuilder, sql } from 'kysely';
import type { Eventually } from '../engine/engine.ts';
import type { Db, RecordTrx } from '../engine/schema.ts';
import { lookupFirst, type Param, statement, written } from '../engine/statement.ts';

/** What tells rows of one record apart: the values of one or more columns. */
export type RowKey = readonly string[];

// A few megabytes. Rows that an index has in another order are sorted each time.
/** How many rows are found at a time. */
export const ROWS_AT_ONCE = 10_000;

/** Records of one resource that are about to be deleted, for the statements about them. */
export interface Sought {
  orgNumber: number;
  /** Unix milliseconds. */
  now: number;
  ids: readonly string[];
  /** The key of the last row that was found before, for a single record; null at first. */
  after: RowKey | null;
  /** The IDs of all records that are deleted together. */
  deleted: ReadonlySet<string>;
}

/** Some of the rows that depend on records in one way. */
export interface Found {
  /** Whether there can be more of them. */
  isCut: boolean;
  /** The key of the last of them; null if there are none. */
  last: RowKey | null;
  /** The records that one with that ID is tied to by rows which clients do not see, also those that are not found yet. */
  tied?(id: string): Promise<{ table: string; ids: string[] }>;
  /** Changes them, so that they no longer depend on the records. */
  release(): Promise<void>;
  /**
   * Notes these changes, as far as they are due to the record with that ID.
   * @param cause the sequence number of its delete
   */
  note(id: string, cause: number): Promise<void>;
}

/** Finds some of the rows that depend on records in one way. */
export type Find = (trx: RecordTrx, sought: Sought) => Promise<Found>;

/**
 * Makes a function that finds rows in the order of their key, a piece at a time. It goes on after the key: rows that no longer
 * match would all be looked at again, as PostgreSQL keeps them in its indexes until the end of the transaction.
 * @param key columns that together differ among the rows of one record
 * @param query the query for rows; `isGiven` is the condition that a column has the ID of a record, and `only` that ID if there
 *   is certainly one
 */
export function findInPieces<R>(
  key: readonly RawBuilder<unknown>[],
  query: (
    param: Param,
    isGiven: (column: RawBuilder<string>) => RawBuilder<boolean>,
    only: RawBuilder<string> | null,
  ) => RawBuilder<R>,
): (db: Db, sought: Sought) => Eventually<R[]> {
  const first = lookupFirst<R>(ROWS_AT_ONCE, (param, isGiven) => query(param, isGiven, null));
  const next = statement<R>((db, param) => {
    const after = key.map((_, index) => sql`${param(`after${index}`)}`);
    const isNext = (column: RawBuilder<string>) =>
      sql<boolean>`${column} = ${param('value')} and (${sql.join(key)}) > (${sql.join(after)})`;
    return written(
      db,
      sql<R>`${query(param, isNext, sql`${param('value')}`)} limit ${sql.lit(ROWS_AT_ONCE)}`,
    );
  });
  return (db, { orgNumber, ids, after }) => {
    const [value = ''] = ids;
    if (after === null) return first(db, orgNumber, ids);
    const values = Object.fromEntries(after.map((one, index) => [`after${index}`, one]));
    return next(db, { org: orgNumber, value, ...values });
  };
}

/**
 * The condition that rows have a value in a column, and lie between two values of another, both included; with the arguments
 * of `pieceOf`. A range of an index takes less time than a search for each row.
 */
export function isInPiece(param: Param, column: string, key: string): RawBuilder<boolean> {
  const isBetween = sql`${sql.ref(key)} >= ${param('first')} and ${sql.ref(key)} <= ${param('last')}`;
  return sql<boolean>`${sql.ref(column)} = ${param('value')} and ${isBetween}`;
}

/** The arguments of `isInPiece` for rows that follow each other, by the name of their key. */
export function pieceOf<R extends object>(value: string, rows: readonly R[], name: keyof R) {
  return { value, first: String(rows.at(0)?.[name]), last: String(rows.at(-1)?.[name]) };
}

/** The key of the last row, from its values with these names; null if there are no rows. */
export function keyOfLast<R extends object>(rows: readonly R[], names: readonly (keyof R)[]): RowKey | null {
  const row = rows.at(-1);
  return row === undefined ? null : names.map((name) => String(row[name]));
}
