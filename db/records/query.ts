// Lists of records: filters, time windows and keyset pages; each shape of list is compiled once.

import { type Compilable, type ExpressionBuilder, type ExpressionWrapper, type SqlBool, sql } from 'kysely';
import { BoundedMap } from '../cache.ts';
import { type Db, type LinkRow, linkTable, type RecordRow, tableOf } from '../engine/schema.ts';
import { type Param, type Statement, statement } from '../engine/statement.ts';
import type { ColumnValue } from '../model/fields.ts';
import { shownColumns } from '../model/record-forms.ts';
import type { Match, Resource } from '../model/resource.ts';
import { columnsOf, keyExpression } from '../tables/columns.ts';
import type { ListQuery } from '../tables/list-query.ts';
import { longTexts, PAGE_BYTES_MAX, PageSizeLimit } from '../tables/page-size.ts';
import { smallestId } from '../tables/record-id.ts';
import { type LeadingFilter, type LinkMatch, leadingFiltersOf } from './leading-filter.ts';

/** The rows of a page; fewer than requested if they are large. */
export interface ListedRows {
  rows: RecordRow[];
  /** Whether there are more rows although there are fewer than requested. */
  isCut: boolean;
}

type Tables = { record: RecordRow & { org_id: number }; link: LinkRow };
type Builder = ExpressionBuilder<Tables, 'record'>;
type Condition = ExpressionWrapper<Tables, 'record', SqlBool>;
type ListStatement = Statement<RecordRow>;

interface Search {
  resource: Resource;
  query: ListQuery;
  lead: LeadingFilter | null;
}

// Thousands of shapes are possible, but few are used.
const SHAPES_MAX = 500;
const statements = new BoundedMap<string, ListStatement>(SHAPES_MAX);

/** The rows of one page, in order. */
export async function listRecords(db: Db, resource: Resource, query: ListQuery): Promise<ListedRows> {
  const leads = await leadingFiltersOf(db, resource, query);
  const pages: ListedRows[] = [];
  for (const lead of leads) pages.push(await readPage(db, { resource, query, lead }));
  const [only = { rows: [], isCut: false }] = pages;
  return pages.length === 1 ? only : merged(pages, query);
}

async function readPage(db: Db, search: Search): Promise<ListedRows> {
  const { resource, query } = search;
  const texts = textsOf(resource, query);
  const run = statementOf(search);
  if (texts.length === 0) return { rows: await run(db, argumentsOf(query)), isCut: false };
  const reading = new PageSizeLimit(texts);
  const rows = await run(db, argumentsOf(query), reading.takes);
  return { rows, isCut: reading.isCut };
}

function textsOf(resource: Resource, { unseen }: ListQuery): string[] {
  const texts = longTexts(resource);
  return unseen === undefined ? texts : texts.filter((name) => !unseen.includes(name));
}

// A record that matches in several ways is listed once.
function merged(pages: ListedRows[], { sortBy, direction, limit }: ListQuery): ListedRows {
  const sign = direction === 'asc' ? 1 : -1;
  const order = (a: RecordRow, b: RecordRow) => sign * (a[sortBy] - b[sortBy] || (a.id < b.id ? -1 : 1));
  // Rows after the last row of a cut result could come after rows of it that were not read.
  const ends = pages.flatMap(({ rows, isCut }) => (isCut ? rows.slice(-1) : []));
  const [end] = ends.sort(order);
  const rows = [...new Map(pages.flatMap((page) => page.rows).map((row) => [row.id, row])).values()];
  const known = end === undefined ? rows : rows.filter((row) => row.id === end.id || order(row, end) < 0);
  return { rows: known.sort(order).slice(0, limit), isCut: end !== undefined };
}

function statementOf(search: Search): ListStatement {
  return statements.getOrCompute(shapeOf(search), () =>
    statement<RecordRow>((db, param) => build(db, search, param)),
  );
}

function argumentsOf(query: ListQuery): Record<string, ColumnValue> {
  const args: Record<string, ColumnValue> = {
    org: query.orgNumber,
    owner: query.ownerId,
    created_since: query.createdSince === null ? null : smallestId(query.createdSince),
    updated_since: query.updatedSince,
    after_value: query.after?.value ?? null,
    after_id: query.after?.id ?? null,
    limit: query.limit,
  };
  for (const [name, value] of Object.entries(query.filters)) args[`filter_${name}`] = value;
  return args;
}

// Everything that affects the SQL; what differs within a shape is a parameter.
function shapeOf({ resource, query, lead }: Search): string {
  return [
    resource.name,
    query.sortBy,
    query.direction,
    query.ownerId === null ? '' : 'owner',
    query.createdSince === null ? '' : 'created_since',
    query.updatedSince === null ? '' : 'updated_since',
    query.after === null ? '' : 'after',
    query.unseen?.join() ?? '',
    isLong(query) ? 'long' : '',
    lead === null ? '' : `${lead.name}.${lead.index} ${lead.way}`,
    ...Object.keys(query.filters).sort(),
  ].join(' ');
}

// Pages with up to this many rows are read whole.
const ROWS_READ_MAX = 21;

function isLong({ limit }: ListQuery): boolean {
  return limit > ROWS_READ_MAX;
}

function build(db: Db, search: Search, param: Param): Compilable<RecordRow> {
  const { resource, query } = search;
  const texts = textsOf(resource, query);
  const page = pageOf(db, search, param);
  if (!isLong(query) || texts.length === 0) return page;
  const columns = shownColumns(resource.fields).map(({ name }) => name);
  return db.engine.limitText(db, page, { columns, texts, bytesMax: PAGE_BYTES_MAX });
}

function pageOf(db: Db, { resource, query, lead }: Search, param: Param) {
  const { sortBy, direction, unseen } = query;
  const links = lead?.way === 'in order' && 'table' in lead.match ? lead.match : null;
  const id = links === null ? ('record.id' as const) : (`link.${links.record}` as const);
  let select = from(db, { resource, links, unseen }, param).where('record.org_id', '=', param('org'));
  const { owner } = resource;
  if (query.ownerId !== null && owner !== null) select = select.where(`record.${owner}`, '=', param('owner'));
  // IDs begin with their record's created_at, so they are in its order.
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

interface Source {
  resource: Resource;
  /** The links that lead to the records, if the search follows them. */
  links: LinkMatch | null;
  unseen: readonly string[] | undefined;
}

function from(db: Db, { resource, links, unseen }: Source, param: Param) {
  const record = `${tableOf(resource)} as record` as const;
  const columns = columnsOf(resource, 'record', unseen);
  if (links === null) return db.selectFrom(record).select(columns).$castTo<RecordRow>();
  return db
    .selectFrom(`${linkTable(links.table)} as link`)
    .crossJoin(record)
    .select(columns)
    .$castTo<RecordRow>()
    .where('link.org_id', '=', param('org'))
    .whereRef('record.id', '=', `link.${links.record}`);
}

function holds(
  eb: Builder,
  match: Match,
  { name, way, db, param }: Pick<LeadingFilter, 'name' | 'way'> & { db: Db; param: Param },
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
