// Where the IDs of records come from that have a value in common: a column, a key or a link that an index finds.
import { type RawBuilder, sql } from 'kysely';
import { BoundedMap } from '../cache.ts';
import type { Db } from '../engine/schema.ts';
import { type Statement, statement, written } from '../engine/statement.ts';
import type { QueryDirection } from '../model/query/sorts.ts';
import { keyExpression } from '../tables/columns.ts';
import { ALL_IDS, type IdRange } from './id-ranges.ts';

/** Rows with an indexed value, each with the ID of a record. */
export interface IdSource {
  table: string;
  /** The column with the ID. */
  id: string;
  /** The column with the value, or the field whose key is the value. */
  value: { column: string } | { keyed: string };
  /** The `record_type` of the rows; null for any. */
  type: string | null;
  /** The value that is looked for, or the first and the last one of a range. */
  given: string | number | { from: string | number; to: string | number };
  /** Whether the index has the IDs of a value in order. */
  isOrdered: boolean;
}

type IdRow = { id: string | null };

const SHAPES_MAX = 200;
const statements = new BoundedMap<string, Statement<IdRow>>(SHAPES_MAX);

function statementOf(source: IdSource, order: QueryDirection | null): Statement<IdRow> {
  const { table, id, value, type } = source;
  const isRange = typeof source.given === 'object';
  const shape = JSON.stringify([table, id, value, type === null, isRange, order]);
  return statements.getOrCompute(shape, () =>
    statement<IdRow>((db, param) => {
      const column = 'keyed' in value ? keyExpression(value.keyed) : sql.ref(value.column);
      const isGiven = isRange
        ? sql`${column} >= ${param('from')} and ${column} <= ${param('to')}`
        : sql`${column} = ${param('given')}`;
      const own = sql.ref<string>(id);
      const ofType = type === null ? sql`` : sql` and record_type = ${param('type')}`;
      const inOrder = order === null ? sql`` : inOrderOf(own, order, param('low'), param('high'));
      return written(
        db,
        sql<IdRow>`select ${own} as id from ${sql.table(table)}
          where org_id = ${param('org')} and ${isGiven}${ofType}${inOrder} limit ${param('limit')}`,
      );
    }),
  );
}

function inOrderOf(
  id: RawBuilder<string>,
  order: QueryDirection,
  low: never,
  high: never,
): RawBuilder<unknown> {
  return sql` and ${id} >= ${low} and ${id} < ${high} order by ${id} ${sql.raw(order)}`;
}

function valuesOf({ type, given }: IdSource): Record<string, string | number | null> {
  return typeof given === 'object' ? { type, ...given } : { type, given };
}

/** IDs of a source, and how many entries were read for them: fewer than asked for only if there are no more. */
export async function findIds(
  db: Db,
  org: number,
  source: IdSource,
  limit: number,
): Promise<{ ids: string[]; entries: number }> {
  // In order even so, where the index has one: PostgreSQL then reads no more entries than asked for.
  const run = statementOf(source, source.isOrdered ? 'asc' : null);
  const rows = await run(db, { org, ...valuesOf(source), ...ALL_IDS, limit });
  return { ids: rows.flatMap(({ id }) => id ?? []), entries: rows.length };
}

/** Which IDs of sources to list. */
export interface IdPage {
  range: IdRange;
  direction: QueryDirection;
  limit: number;
}

/** IDs of several sources in order, whether they are the last ones, and how many entries were read for them. */
export interface ListedIds {
  ids: string[];
  isLast: boolean;
  entries: number;
}

/** IDs of ordered sources within a range, in order, each once. */
export async function listIds(
  db: Db,
  org: number,
  sources: readonly IdSource[],
  { range, direction, limit }: IdPage,
): Promise<ListedIds> {
  const parts: string[][] = [];
  for (const source of sources) {
    const run = statementOf(source, direction);
    const rows = await run(db, { org, ...valuesOf(source), ...range, limit });
    parts.push(rows.flatMap(({ id }) => id ?? []));
  }
  const isBefore = (one: string, other: string) => (direction === 'asc' ? one < other : one > other);
  // After the last ID of a source that has more, those of others could come after ones that were not read.
  const ends = parts.flatMap((ids) => (ids.length === limit ? ids.slice(-1) : []));
  const [end] = ends.sort((one, other) => (isBefore(one, other) ? -1 : 1));
  const ids = [...new Set(parts.flat())].filter((id) => end === undefined || !isBefore(end, id));
  ids.sort((one, other) => (isBefore(one, other) ? -1 : 1));
  return { ids, isLast: end === undefined, entries: parts.flat().length };
}
