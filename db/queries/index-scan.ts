// Goes through records in the order of an index, from a place on, some at a time.
import { type RawBuilder, sql } from 'kysely';
import { BoundedMap } from '../cache.ts';
import type { Db, RecordRow } from '../engine/schema.ts';
import { type Param, type Statement, statement, written } from '../engine/statement.ts';
import {
  inQueryOrder,
  type QueryDirection,
  type QueryPlace,
  type QuerySort,
  queryPlaceOf,
} from '../model/query/sorts.ts';
import type { Resource } from '../model/resource.ts';
import { longKeyStart } from '../model/text.ts';
import { keyExpression } from '../tables/columns.ts';
import type { IdRange } from './id-ranges.ts';
import { columnList } from './read-columns.ts';
import {
  fromLong,
  longByKeys,
  type Stretch,
  stretchAfter,
  stretchesAfter,
  type ValueBounds,
} from './sort-ranges.ts';

/** What to go through, and what to read of each record. */
export interface ScanQuery {
  resource: Resource;
  org: number;
  sort: QuerySort;
  direction: QueryDirection;
  columns: readonly string[];
  /** Only the IDs in this range, if the order is that of IDs. */
  ids: IdRange;
  bounds: ValueBounds;
  /** A column before those of the order in the index, and its value. */
  lead: { column: string; given: string | number } | null;
  after: QueryPlace | null;
}

// Long texts that begin alike are read together and sorted, up to so many.
const LONG_SORTED_MAX = 1_000;

/** The records of a scan. */
export class IndexScan {
  readonly #query: ScanQuery;
  #stretches: Stretch[];
  /** How the keys of long texts begin that are too many to be sorted. */
  #tooMany: string | null = null;
  /** How many rows were read, with those that are read again later. */
  rowsRead = 0;

  constructor(query: ScanQuery) {
    this.#query = query;
    const { sort, direction, bounds, after, ids } = query;
    this.#stretches = stretchesAfter(sort, direction, bounds, after, ids);
  }

  /** Whether there are no more records. */
  get isDone(): boolean {
    return this.#stretches.length === 0;
  }

  /** How many records are read next at least. */
  get leastCost(): number {
    return this.#stretches[0]?.kind === 'long' ? LONG_SORTED_MAX + 1 : 1;
  }

  /** The next records, at most that many unless more are read at least; possibly none although it is not done. */
  async next(db: Db, limit: number): Promise<RecordRow[]> {
    const [stretch, ...rest] = this.#stretches;
    if (stretch === undefined) return [];
    const { direction } = this.#query;
    if (stretch.kind === 'long') return this.#nextLong(db, stretch, rest);
    const rows = await this.#read(db, stretch, limit);
    const found = this.#firstLong(rows);
    if (found !== null) {
      this.#stretches = [...fromLong(direction, stretch, found.start), ...rest];
      return rows.slice(0, found.index);
    }
    const last = rows.at(-1);
    const isCut = last !== undefined && rows.length === limit;
    const left = isCut ? stretchAfter(stretch, direction, { value: last.sort_value, id: last.id }) : [];
    this.#stretches = [...left, ...rest];
    return rows;
  }

  async #nextLong(
    db: Db,
    stretch: Extract<Stretch, { kind: 'long' }>,
    rest: Stretch[],
  ): Promise<RecordRow[]> {
    const { direction, sort } = this.#query;
    const { start, after } = stretch;
    const [whole] = longByKeys(direction, { ...stretch, after: null });
    const rows = whole === undefined ? [] : await this.#read(db, whole, LONG_SORTED_MAX + 1);
    this.#stretches = rest;
    if (rows.length > LONG_SORTED_MAX) {
      this.#tooMany = start;
      this.#stretches = [...longByKeys(direction, stretch), ...rest];
      return [];
    }
    const compare = inQueryOrder(direction);
    const placed = rows.map((row) => ({ row, place: queryPlaceOf(sort, row) }));
    placed.sort((one, other) => compare(one.place, other.place));
    return placed.flatMap(({ row, place }) => (after === null || compare(place, after) > 0 ? row : []));
  }

  async #read(db: Db, stretch: Read, limit: number): Promise<ScannedRow[]> {
    const { org, lead } = this.#query;
    const args = { org, lead: lead?.given ?? null, ...argumentsOf(stretch), limit };
    const rows = await statementOf(this.#query, stretch)(db, args);
    this.rowsRead += rows.length;
    return rows as ScannedRow[];
  }

  #firstLong(rows: readonly ScannedRow[]): { index: number; start: string } | null {
    const { sort } = this.#query;
    if (sort.by !== 'text') return null;
    for (const [index, row] of rows.entries()) {
      const { value } = queryPlaceOf(sort, row);
      const start = typeof value === 'string' ? longKeyStart(value) : null;
      if (start !== null && start !== this.#tooMany) return { index, start };
    }
    return null;
  }
}

/** A part that one statement reads. */
type Read = Exclude<Stretch, { kind: 'long' }>;

/** Read with the value that the index has, which for long text is its key. */
type ScannedRow = RecordRow & { sort_value: string | number };

function argumentsOf(stretch: Read): Record<string, string | number> {
  if (stretch.kind === 'values') return { low_value: stretch.low, high_value: stretch.high };
  const { low, high } = stretch.ids;
  return stretch.kind === 'value' ? { value: stretch.value, low, high } : { low, high };
}

const SHAPES_MAX = 500;
const statements = new BoundedMap<string, Statement<RecordRow>>(SHAPES_MAX);

function statementOf(query: ScanQuery, stretch: Read): Statement<RecordRow> {
  const { resource, sort, direction, columns, lead } = query;
  const isBeyond = stretch.kind === 'values' && stretch.isBeyond;
  const shape = [resource.name, sort.name, direction, lead?.column ?? '', stretch.kind, isBeyond, ...columns];
  return statements.getOrCompute(shape.join(), () =>
    statement<RecordRow>((db, param) => written(db, build(query, stretch, param))),
  );
}

function build(
  { resource, sort, direction, columns, lead }: ScanQuery,
  stretch: Read,
  param: Param,
): RawBuilder<RecordRow> {
  const value = sortValueOf(sort);
  const ofLead = lead === null ? sql`` : sql` and ${sql.ref(lead.column)} = ${param('lead')}`;
  const order = sql.raw(direction);
  const byValue = stretch.kind === 'values' ? sql`${value} ${order}, ` : sql``;
  return sql<RecordRow>`select ${columnList(columns)}, ${value} as sort_value from ${sql.table(resource.name)}
    where org_id = ${param('org')}${ofLead} and ${isIn(stretch, value, direction, param)}
    order by ${byValue}id ${order} limit ${param('limit')}`;
}

function sortValueOf({ name, by }: QuerySort): RawBuilder<unknown> {
  if (by === 'text') return keyExpression(name);
  return sql.ref(by === 'id' ? 'id' : name);
}

function isIn(
  stretch: Read,
  value: RawBuilder<unknown>,
  direction: QueryDirection,
  param: Param,
): RawBuilder<unknown> {
  const ids = sql`id >= ${param('low')} and id < ${param('high')}`;
  if (stretch.kind === 'ids') return ids;
  if (stretch.kind === 'unset') return sql`${value} is null and ${ids}`;
  if (stretch.kind === 'value') return sql`${value} = ${param('value')} and ${ids}`;
  const above = sql.raw(stretch.isBeyond && direction === 'asc' ? '>' : '>=');
  const below = sql.raw(stretch.isBeyond && direction === 'desc' ? '<' : '<=');
  return sql`${value} ${above} ${param('low_value')} and ${value} ${below} ${param('high_value')}`;
}
