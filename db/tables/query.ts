// Lists of records: filters, time windows and keyset pages; each shape of list is compiled once.
import type { ExpressionBuilder, ExpressionWrapper, SqlBool } from 'kysely';
import type { ColumnValue } from '../declare/fields.ts';
import type { Match, Resource } from '../declare/resource.ts';
import { type Db, type LinkRow, linkTable, type RecordRow, tableOf } from '../schema.ts';
import { type Param, type Statement, statement } from '../statement.ts';
import { columnsOf } from './columns.ts';

export type Direction = 'asc' | 'desc';

/** The last row of the page before: the value it was sorted by, and its id. */
export interface Position {
  value: number;
  id: string;
}

export interface ListQuery {
  orgId: number;
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

type Tables = { record: RecordRow & { org_id: number }; link: LinkRow };
type Builder = ExpressionBuilder<Tables, 'record'>;
type Condition = ExpressionWrapper<Tables, 'record', SqlBool>;
type ListStatement = Statement<RecordRow>;

/** The filter that a page is searched by: one of its matches at a time, so that each search has an index to follow. */
interface Lead {
  name: string;
  match: Match;
  index: number;
}

interface Search {
  resource: Resource;
  query: ListQuery;
  lead: Lead | null;
}

// Some thousands of shapes can be asked for; hardly any are.
const SHAPES_MAX = 500;
const statements = new Map<string, ListStatement>();

/** The rows of one page, in order. */
export async function listRecords(db: Db, resource: Resource, query: ListQuery): Promise<RecordRow[]> {
  const leads = leadsOf(resource, query);
  const pages: RecordRow[][] = [];
  for (const lead of leads) pages.push(await statementOf({ resource, query, lead })(db, argumentsOf(query)));
  const [only = []] = pages;
  return pages.length === 1 ? only : merged(pages, query);
}

function leadsOf(resource: Resource, query: ListQuery): (Lead | null)[] {
  for (const name of Object.keys(query.filters)) {
    const matches = resource.filters[name]?.match ?? [];
    if (matches.length > 1 || matches.some((match) => 'table' in match)) {
      return matches.map((match, index) => ({ name, match, index }));
    }
  }
  return [null];
}

// A record may match in several ways; it comes once, in its place.
function merged(pages: RecordRow[][], { sortBy, direction, limit }: ListQuery): RecordRow[] {
  const rows = [...new Map(pages.flat().map((row) => [row.id, row])).values()];
  const sign = direction === 'asc' ? 1 : -1;
  rows.sort((a, b) => sign * (a[sortBy] - b[sortBy] || (a.id < b.id ? -1 : 1)));
  return rows.slice(0, limit);
}

function statementOf(search: Search): ListStatement {
  const shape = shapeOf(search);
  let run = statements.get(shape);
  if (run === undefined) {
    run = statement<RecordRow>((db, param) => build(db, search, param));
    if (statements.size >= SHAPES_MAX) statements.clear();
    statements.set(shape, run);
  }
  return run;
}

function argumentsOf(query: ListQuery): Record<string, ColumnValue> {
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
  return args;
}

// Everything that decides the SQL; what varies within a shape is a parameter.
function shapeOf({ resource, query, lead }: Search): string {
  return [
    resource.name,
    query.sortBy,
    query.direction,
    query.ownerId === null ? '' : 'owner',
    query.createdSince === null ? '' : 'created_since',
    query.updatedSince === null ? '' : 'updated_since',
    query.after === null ? '' : 'after',
    lead === null ? '' : `${lead.name}.${lead.index}`,
    ...Object.keys(query.filters).sort(),
  ].join(' ');
}

function build(db: Db, { resource, query, lead }: Search, param: Param) {
  let select = from(db, resource, lead, param).where('record.org_id', '=', param('org'));
  const { owner } = resource;
  if (query.ownerId !== null && owner !== null) select = select.where(`record.${owner}`, '=', param('owner'));
  if (query.createdSince !== null) select = select.where('record.created_at', '>=', param('created_since'));
  if (query.updatedSince !== null) select = select.where('record.updated_at', '>=', param('updated_since'));
  for (const name of Object.keys(query.filters)) {
    const matches = lead?.name === name ? [lead.match] : (resource.filters[name]?.match ?? []);
    // Followed already: the records come from these links.
    if (lead !== null && lead.name === name && isFew(lead.match)) continue;
    select = select.where((eb) => eb.or(matches.map((match) => holds(eb, match, `filter_${name}`, param))));
  }
  if (query.after !== null) {
    select = select.where((eb) =>
      eb(
        eb.refTuple(`record.${query.sortBy}`, 'record.id'),
        query.direction === 'desc' ? '<' : '>',
        eb.tuple(param('after_value'), param('after_id')),
      ),
    );
  }
  return select
    .orderBy(`record.${query.sortBy}`, query.direction)
    .orderBy('record.id', query.direction)
    .limit(param('limit'));
}

// Few links are followed to their records; else the records are gone through in order, and looked up among the links.
function from(db: Db, resource: Resource, lead: Lead | null, param: Param) {
  const record = `${tableOf(resource)} as record` as const;
  if (lead === null || !isFew(lead.match))
    return db.selectFrom(record).select(columnsOf(resource, 'record')).$castTo<RecordRow>();
  const { table, record: recordColumn, value } = lead.match;
  return db
    .selectFrom(`${linkTable(table)} as link`)
    .crossJoin(record)
    .select(columnsOf(resource, 'record'))
    .$castTo<RecordRow>()
    .where('link.org_id', '=', param('org'))
    .where(`link.${value}`, '=', param(`filter_${lead.name}`))
    .whereRef('record.id', '=', `link.${recordColumn}`);
}

function isFew(match: Match): match is Extract<Match, { table: string }> {
  return 'table' in match && match.isFew;
}

function holds(eb: Builder, match: Match, argument: string, param: Param): Condition {
  if ('column' in match) return eb(`record.${match.column}`, match.operator, param(argument)) as Condition;
  const linked = eb
    .selectFrom(`${linkTable(match.table)} as link` as never)
    .select(`link.${match.record}` as never)
    .where('link.org_id' as never, '=', param('org'))
    .where(`link.${match.value}` as never, '=', param(argument));
  return eb('record.id', 'in', linked as never) as Condition;
}
