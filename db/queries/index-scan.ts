// Goes through records in the order of an index, from a place on, some at a time.
import { type RawBuilder, sql } from 'kysely';
import { BoundedMap } from '../cache.ts';
import type { Db, RecordRow } from '../engine/schema.ts';
import { type Param, type Statement, statement, written } from '../engine/statement.ts';
import type { QueryDirection, QueryPlace, QuerySort } from '../model/query/sorts.ts';
import type { Resource } from '../model/resource.ts';
import { keyExpression } from '../tables/columns.ts';
import type { IdRange } from './id-ranges.ts';
import { columnList } from './read-columns.ts';
import { type Stretch, stretchAfter, stretchesAfter, type ValueBounds } from './sort-ranges.ts';

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

/** The records of a scan. */
export class IndexScan {
  readonly #query: ScanQuery;
  #stretches: Stretch[];

  constructor(query: ScanQuery) {
    this.#query = query;
    const { sort, direction, bounds, after, ids } = query;
    this.#stretches = stretchesAfter(sort, direction, bounds, after, ids);
  }

  /** Whether there are no more records. */
  get isDone(): boolean {
    return this.#stretches.length === 0;
  }

  /** The next records, at most that many; possibly none although it is not done. */
  async next(db: Db, limit: number): Promise<RecordRow[]> {
    const [stretch, ...rest] = this.#stretches;
    if (stretch === undefined) return [];
    const { org, direction, lead } = this.#query;
    const run = statementOf(this.#query, stretch);
    const args = { org, lead: lead?.given ?? null, ...argumentsOf(stretch), limit };
    const rows = (await run(db, args)) as ScannedRow[];
    const last = rows.at(-1);
    const isCut = last !== undefined && rows.length === limit;
    const left = isCut ? stretchAfter(stretch, direction, { value: last.sort_value, id: last.id }) : [];
    this.#stretches = [...left, ...rest];
    return rows;
  }
}

/** Read with the value that the index has, which for long text is its key. */
type ScannedRow = RecordRow & { sort_value: string | number };

function argumentsOf(stretch: Stretch): Record<string, string | number> {
  if (stretch.kind === 'values') return { low_value: stretch.low, high_value: stretch.high };
  const { low, high } = stretch.ids;
  return stretch.kind === 'value' ? { value: stretch.value, low, high } : { low, high };
}

const SHAPES_MAX = 500;
const statements = new BoundedMap<string, Statement<RecordRow>>(SHAPES_MAX);

function statementOf(query: ScanQuery, stretch: Stretch): Statement<RecordRow> {
  const { resource, sort, direction, columns, lead } = query;
  const isBeyond = stretch.kind === 'values' && stretch.isBeyond;
  const shape = [resource.name, sort.name, direction, lead?.column ?? '', stretch.kind, isBeyond, ...columns];
  return statements.getOrCompute(shape.join(), () =>
    statement<RecordRow>((db, param) => written(db, build(query, stretch, param))),
  );
}

function build(
  { resource, sort, direction, columns, lead }: ScanQuery,
  stretch: Stretch,
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
  stretch: Stretch,
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
