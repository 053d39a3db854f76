// Lists of records: filters, time windows and keyset pages; each shape of list is compiled once.
import type { ExpressionBuilder, ExpressionWrapper, SqlBool } from 'kysely';
import type { ColumnValue } from './fields.ts';
import type { Filter, Match, Resource } from './resource.ts';
import { type Db, linkTable, type RecordRow, type Schema, tableOf } from './schema.ts';
import { type Param, statement } from './statement.ts';

export type Direction = 'asc' | 'desc';

/** The last row of the page before: the value it was sorted by, and its id. */
export interface Position {
  value: number;
  id: string;
}

export interface ListQuery {
  orgId: string;
  /** Only records of this owner; null for all of the organization. */
  ownerId: string | null;
  /** Filters by their name in the declaration, with values as stored. */
  filters: Readonly<Record<string, ColumnValue>>;
  /** Inclusive lower bounds, Unix milliseconds. */
  createdSince: number | null;
  updatedSince: number | null;
  sortBy: 'created_at' | 'updated_at';
  direction: Direction;
  after: Position | null;
  /** How many rows at most. */
  limit: number;
}

type Builder = ExpressionBuilder<Schema, 'records'>;
type Condition = ExpressionWrapper<Schema, 'records', SqlBool>;
type ListStatement = (db: Db, args: Record<string, ColumnValue>) => Promise<RecordRow[]>;

const statements = new Map<string, ListStatement>();

/** The rows of one page, in order. */
export function listRecords(db: Db, resource: Resource, query: ListQuery): Promise<RecordRow[]> {
  const shape = shapeOf(resource, query);
  let run = statements.get(shape);
  if (run === undefined) {
    run = statement<RecordRow>((compiler, param) => build(compiler, resource, query, param));
    statements.set(shape, run);
  }
  const args: Record<string, ColumnValue> = {
    org: query.orgId,
    owner: query.ownerId,
    created_since: query.createdSince,
    updated_since: query.updatedSince,
    after_value: query.after?.value ?? null,
    after_id: query.after?.id ?? null,
    limit: query.limit,
  };
  for (const [name, value] of Object.entries(query.filters)) args[`filter_${name}`] = value;
  return run(db, args);
}

// Everything that decides the SQL; what varies within a shape is a parameter.
function shapeOf(resource: Resource, query: ListQuery): string {
  return [
    resource.name,
    query.sortBy,
    query.direction,
    query.ownerId === null ? '' : 'owner',
    query.createdSince === null ? '' : 'created_since',
    query.updatedSince === null ? '' : 'updated_since',
    query.after === null ? '' : 'after',
    ...Object.keys(query.filters).sort(),
  ].join(' ');
}

function build(db: Db, resource: Resource, query: ListQuery, param: Param) {
  let select = db.selectFrom(tableOf(resource)).selectAll().where('org_id', '=', param('org'));
  if (query.ownerId !== null && resource.owner !== null)
    select = select.where(resource.owner, '=', param('owner'));
  if (query.createdSince !== null) select = select.where('created_at', '>=', param('created_since'));
  if (query.updatedSince !== null) select = select.where('updated_at', '>=', param('updated_since'));
  for (const name of Object.keys(query.filters)) {
    const filter = resource.filters[name];
    if (filter !== undefined) select = select.where((eb) => matches(eb as Builder, filter, name, param));
  }
  if (query.after !== null) {
    select = select.where((eb) =>
      eb(
        eb.refTuple(query.sortBy, 'id'),
        query.direction === 'desc' ? '<' : '>',
        eb.tuple(param('after_value'), param('after_id')),
      ),
    );
  }
  return select.orderBy(query.sortBy, query.direction).orderBy('id', query.direction).limit(param('limit'));
}

function matches(eb: Builder, filter: Filter, name: string, param: Param): Condition {
  return eb.or(filter.match.map((match) => matchesOne(eb, match, `filter_${name}`, param)));
}

function matchesOne(eb: Builder, match: Match, argument: string, param: Param): Condition {
  if ('column' in match) return eb(match.column, match.operator, param(argument)) as Condition;
  const linked = eb
    .selectFrom(`${linkTable(match.table)} as link`)
    .select(`link.${match.record}`)
    .where('link.org_id', '=', param('org'))
    .where(`link.${match.value}`, '=', param(argument));
  return eb('id', 'in', linked as never) as Condition;
}
