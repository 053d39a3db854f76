// Lists of records: filters, time windows and keyset pages; each shape of list is compiled once.
import { type ExpressionBuilder, type ExpressionWrapper, type SqlBool, sql } from 'kysely';
import type { ColumnValue } from '../declare/fields.ts';
import type { Match, Resource } from '../declare/resource.ts';
import { type Db, type LinkRow, linkTable, type RecordRow, tableOf } from '../schema.ts';
import { madeOnce, type Param, type Statement, statement } from '../statement.ts';
import { columnsOf, keyExpression } from './columns.ts';
import { leastId } from './record-id.ts';

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
type LinkMatch = Extract<Match, { table: string }>;
type ListStatement = Statement<RecordRow>;

/** The filter that a page is searched by: one of its matches at a time, so that each search has an index to follow. */
interface Lead {
  name: string;
  match: Match;
  index: number;
  way: Way;
}

/**
 * How a value is looked for among links, which are kept in the order of their records' ids: they are followed, in their
 * order or with the records sorted by updated_at; or the records are gone through, and each is looked up among the links.
 */
type Way = 'in order' | 'to be sorted' | 'one by one';

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
  const leads = await leadsOf(db, resource, query);
  const pages: RecordRow[][] = [];
  for (const lead of leads) pages.push(await statementOf({ resource, query, lead })(db, argumentsOf(query)));
  const [only = []] = pages;
  return pages.length === 1 ? only : merged(pages, query);
}

async function leadsOf(db: Db, resource: Resource, query: ListQuery): Promise<(Lead | null)[]> {
  for (const [name, value] of Object.entries(query.filters)) {
    const matches = resource.filters[name]?.match ?? [];
    if (matches.length <= 1 && !matches.some((match) => 'table' in match)) continue;
    const leads: Lead[] = [];
    for (const [index, match] of matches.entries()) {
      leads.push({ name, match, index, way: await wayOf(db, match, query, value) });
    }
    return leads;
  }
  return [null];
}

// More links than these are followed where nothing else narrows down the list, and it needs no sorting.
const FOLLOWED_MAX = 1_000;

const more = madeOnce(({ table, record, value }: LinkMatch) =>
  statement((db, param) =>
    db
      .selectFrom(linkTable(table))
      .select(record)
      .where('org_id', '=', param('org'))
      .where(value, '=', param('value'))
      .offset(param('offset'))
      .limit(1),
  ),
);

async function wayOf(db: Db, match: Match, query: ListQuery, value: ColumnValue): Promise<Way> {
  if (!('table' in match)) return 'one by one';
  const { orgId, ownerId, filters, sortBy } = query;
  const isAlone = ownerId === null && Object.keys(filters).length === 1;
  if (isAlone && sortBy === 'created_at') return 'in order';
  const rest = await more(match)(db, { org: orgId, value, offset: FOLLOWED_MAX });
  if (rest.length > 0) return 'one by one';
  return sortBy === 'created_at' ? 'in order' : 'to be sorted';
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
    created_since: query.createdSince === null ? null : leastId(query.createdSince),
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
    lead === null ? '' : `${lead.name}.${lead.index} ${lead.way}`,
    ...Object.keys(query.filters).sort(),
  ].join(' ');
}

function build(db: Db, { resource, query, lead }: Search, param: Param) {
  const { sortBy, direction } = query;
  const links = lead?.way === 'in order' && 'table' in lead.match ? lead.match : null;
  const id = links === null ? ('record.id' as const) : (`link.${links.record}` as const);
  let select = from(db, resource, links, param).where('record.org_id', '=', param('org'));
  const { owner } = resource;
  if (query.ownerId !== null && owner !== null) select = select.where(`record.${owner}`, '=', param('owner'));
  // Ids begin with their record's created_at, and so are in its order.
  if (query.createdSince !== null) select = select.where(id, '>=', param('created_since'));
  if (query.updatedSince !== null) select = select.where('record.updated_at', '>=', param('updated_since'));
  for (const name of Object.keys(query.filters)) {
    const matches = lead?.name === name ? [lead.match] : (resource.filters[name]?.match ?? []);
    const way = lead?.name === name ? lead.way : 'one by one';
    if (links !== null && way === 'in order') {
      select = select.where(`link.${links.value}`, '=', param(`filter_${name}`));
    } else {
      select = select.where((eb) =>
        eb.or(matches.map((match) => holds(eb, match, { name, way, db, param }))),
      );
    }
  }
  const beyond = direction === 'desc' ? '<' : '>';
  if (sortBy === 'created_at') {
    if (query.after !== null) select = select.where(id, beyond, param('after_id'));
    return select.orderBy(id, direction).limit(param('limit'));
  }
  if (query.after !== null) {
    select = select.where((eb) =>
      eb(eb.refTuple('record.updated_at', id), beyond, eb.tuple(param('after_value'), param('after_id'))),
    );
  }
  return select.orderBy('record.updated_at', direction).orderBy(id, direction).limit(param('limit'));
}

function from(db: Db, resource: Resource, links: LinkMatch | null, param: Param) {
  const record = `${tableOf(resource)} as record` as const;
  if (links === null) return db.selectFrom(record).select(columnsOf(resource, 'record')).$castTo<RecordRow>();
  return db
    .selectFrom(`${linkTable(links.table)} as link`)
    .crossJoin(record)
    .select(columnsOf(resource, 'record'))
    .$castTo<RecordRow>()
    .where('link.org_id', '=', param('org'))
    .whereRef('record.id', '=', `link.${links.record}`);
}

function holds(
  eb: Builder,
  match: Match,
  { name, way, db, param }: Pick<Lead, 'name' | 'way'> & { db: Db; param: Param },
): Condition {
  const argument = param(`filter_${name}`);
  if ('column' in match) return eb(`record.${match.column}`, match.operator, argument) as Condition;
  if ('keyed' in match) return eb(keyExpression(match.keyed, 'record'), '=', argument) as Condition;
  const record = `link.${match.record}`;
  const links = eb
    .selectFrom(`${linkTable(match.table)} as link` as never)
    .select(record as never)
    .where('link.org_id' as never, '=', param('org'))
    .where(`link.${match.value}` as never, '=', argument);
  if (way === 'to be sorted')
    return eb.and([db.engine.isIn(sql.ref('record.id'), links)]) as unknown as Condition;
  return eb.exists(links.whereRef(record as never, '=', 'record.id' as never)) as Condition;
}
