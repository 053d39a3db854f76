// Queries and counts of one resource, by a filter in the body.
import { type TSchema, Type } from 'typebox';
import type { Fault } from '../../db/model/faults.ts';
import type { Data } from '../../db/model/json.ts';
import {
  conditionsIn,
  FILTER_CONDITIONS_MAX,
  FILTER_LEVELS_MAX,
  FILTER_VALUES_MAX,
  type FilterNode,
  readFilter,
} from '../../db/model/query/filter.ts';
import { type QueryPlace, querySorts } from '../../db/model/query/sorts.ts';
import type { Resource } from '../../db/model/resource.ts';
import { named } from '../../db/model/schemas.ts';
import { formatCount } from '../../db/model/text.ts';
import { COUNT_EXAMINED_MAX, PAGE_EXAMINED_MAX } from '../../db/queries/run-query.ts';
import { invalid } from '../errors.ts';
import type { Answer, LookupCall, LookupOperation } from '../operation.ts';
import { requireScope } from '../pipeline/scope.ts';
import { countMatching, queryPage } from '../records/queries.ts';
import { selectFrom, unseenFields } from '../records/selections.ts';
import type { ListIdentity } from '../signing/list-identity.ts';
import { capitalized, operationId, pathOf, titleOf } from './naming.ts';
import { PAGE_ROWS_DEFAULT, PAGE_ROWS_MAX } from './paging.ts';
import { fieldsInWords, filterExample } from './query-words.ts';
import { includedSchema } from './selection-schemas.ts';
import { selectionOf, selectionProperties } from './selections.ts';

const CLOSED = { additionalProperties: false };

const SHORTLY =
  'See [Query records](#query-records) for the operators. A filter has at most ' +
  `${FILTER_CONDITIONS_MAX} conditions and ${FILTER_LEVELS_MAX} levels of \`and\`, \`or\` and \`not\`, and a list has at most ` +
  `${FILTER_VALUES_MAX} values.`;

/** The operations that find and count records by a filter. */
export function queryOperations(resource: Resource): LookupOperation[] {
  return [query(resource), count(resource)];
}

function query(resource: Resource): LookupOperation {
  const { name } = resource;
  return {
    ...lookingUp(resource, 'query'),
    id: operationId('find', resource),
    summary: `Query ${name}`,
    description:
      `Returns the ${name} that meet a filter, in pages. ${fieldsInWords(resource)} ${SHORTLY}\n\n` +
      `A request examines at most ${formatCount(PAGE_EXAMINED_MAX)} index entries and records. If the records that meet the ` +
      'filter are rare, a page can have fewer of them than `limit`, or none, although `has_next_page` is true: continue ' +
      'with `end_cursor`.',
    body: named(`${capitalized(resource.singular)}Query`, querySchema(resource)),
    answer: resource.responseSchema,
    included: includedSchema(resource),
    answerKind: 'list',
    successes: { 200: 'One page of results. With `fields`, records have no other fields than these.' },
    examples: { body: { filter: filterExample(resource), sort_by: 'updated_at', limit: 50 } },
    run: (call) => runQuery(call, resource),
  };
}

function count(resource: Resource): LookupOperation {
  const { name } = resource;
  return {
    ...lookingUp(resource, 'count'),
    id: operationId('count', resource),
    summary: `Count ${name}`,
    description:
      `Counts the ${name} that meet a filter, or all without one. ${fieldsInWords(resource)} ${SHORTLY}\n\n` +
      `A request examines at most ${formatCount(COUNT_EXAMINED_MAX)} index entries and records. If there are more, ` +
      '`is_exact` is false, and at least `count` records meet the filter.',
    body: named('RecordCountRequest', Type.Object({ filter: Type.Optional(filterSchema) }, CLOSED)),
    answer: named(
      'RecordCount',
      Type.Object(
        {
          count: Type.Integer({
            minimum: 0,
            description: 'How many records meet the filter.',
            examples: [42],
          }),
          is_exact: Type.Boolean({
            description: 'Whether that is all of them; if not, there can be more.',
            examples: [true],
          }),
        },
        CLOSED,
      ),
    ),
    answerKind: 'success',
    successes: { 200: 'Counted.' },
    examples: { body: { filter: filterExample(resource) } },
    run: (call) => runCount(call, resource),
  };
}

function lookingUp(resource: Resource, verb: string) {
  const path = pathOf(resource);
  return {
    api: 'v2',
    method: 'POST',
    isWrite: false,
    isLookup: true,
    tag: titleOf(resource),
    path: `${path}/${verb}`,
    recordPath: `${path}/{id}`,
    scopes: [`${resource.name}:read`],
    query: {},
    inspect: (body: Data): Fault[] => [...readFilter(resource, body.filter, Date.now()).faults],
    errorStatuses: [413, 422],
  } as const;
}

const filterSchema: TSchema = named(
  'Filter',
  Type.Object(
    {},
    {
      additionalProperties: true,
      description:
        '`{"and": […]}`, `{"or": […]}`, `{"not": …}`, or fields with a value or an object of operators, all of which must ' +
        'hold. An empty object matches everything.',
      examples: [{ created_at: { gte: { ago: '30d' } } }],
    },
  ),
);

function querySchema(resource: Resource): TSchema {
  return Type.Object(
    {
      filter: Type.Optional(filterSchema),
      sort_by: Type.Optional(
        Type.Enum(querySorts(resource), {
          description:
            'The field to sort by. Text is sorted by its lower case; records without a value are last in both ' +
            'directions, and those with equal values are sorted by ID. Default: `created_at`.',
        }),
      ),
      sort_direction: Type.Optional(Type.Enum(['asc', 'desc'], { description: 'Default: `desc`.' })),
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: PAGE_ROWS_MAX,
          description: `Maximum number of records per page; a page of large records has fewer. Default: ${PAGE_ROWS_DEFAULT}.`,
          examples: [50],
        }),
      ),
      cursor: Type.Optional(
        Type.String({
          minLength: 1,
          description: 'The end_cursor of the previous page; use the same filter and order.',
        }),
      ),
      ...selectionProperties(resource),
    },
    CLOSED,
  );
}

async function runQuery(call: LookupCall, resource: Resource): Promise<Answer> {
  const body = call.body as Data;
  const cursors = await call.cursors.ofHidden(identityOf(call, resource, body));
  const start = typeof body.cursor === 'string' ? startOf(cursors.open(body.cursor, call.now)) : null;
  // Relative instants stay what they were on the first page.
  const base = start?.base ?? call.now;
  const filter = filterOf(call, resource, body, base);
  const selection = selectionOf(call, resource, body);
  const page = await queryPage(call, resource, {
    filter,
    sortBy: sortOf(body),
    direction: body.sort_direction === 'asc' ? 'asc' : 'desc',
    after: start?.place ?? null,
    limit: Number(body.limit ?? PAGE_ROWS_DEFAULT),
    unseen: unseenFields(resource, selection),
  });
  const { isCut, ...selected } = await selectFrom(call, resource, selection, page.records);
  const cursorOf = (place: QueryPlace | undefined) =>
    cursors.issue(Buffer.from(JSON.stringify([base, place?.value ?? null, place?.id ?? ''])));
  const { next, places } = page;
  return {
    ...{ status: 200, object: 'list', ...selected, hasNextPage: next !== null || isCut },
    cursorAfter: (index) => cursorOf(places[index]),
    ...(next !== null && !isCut && { endCursor: cursorOf(next) }),
  };
}

async function runCount(call: LookupCall, resource: Resource): Promise<Answer> {
  const filter = filterOf(call, resource, call.body as Data, call.now);
  const { count, isExact } = await countMatching(call, resource, filter);
  return { status: 200, object: 'success', data: { count, is_exact: isExact } };
}

/** @throws ApiError 403 if the key cannot read what the filter looks for at the other end of links */
function filterOf({ access }: LookupCall, resource: Resource, { filter }: Data, now: number): FilterNode {
  const read = readFilter(resource, filter, now).filter;
  for (const { field } of conditionsIn(read)) {
    if (field.family === 'link') requireScope(access, `${field.relation?.name}:read`);
  }
  return read;
}

function sortOf({ sort_by }: Data): string {
  return typeof sort_by === 'string' ? sort_by : 'created_at';
}

function identityOf({ access }: LookupCall, resource: Resource, body: Data): ListIdentity {
  const { filter = {}, sort_direction = 'desc' } = body;
  const query = { filter, sort_by: sortOf(body), sort_direction };
  return { orgNumber: access.orgNumber, path: `${pathOf(resource)}/query`, query };
}

function startOf(content: Buffer | null): { base: number; place: QueryPlace } {
  if (content === null) {
    const message = 'must be the end_cursor of a page of the same query, with the same filter and order';
    throw invalid('cursor', message, 'VALIDATION_INVALID_FORMAT');
  }
  const [base, value, id] = JSON.parse(content.toString()) as [number, QueryPlace['value'], string];
  return { base, place: { value, id } };
}
