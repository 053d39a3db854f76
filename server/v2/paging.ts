// Pages of v2 lists: their query parameters, and the steps from a request to a page and the next cursor.
import { EXTERNAL_ID_EXAMPLE } from '../../db/model/external-ids.ts';
import { type ColumnValue, exampleId } from '../../db/model/fields.ts';
import type { JsonValue } from '../../db/model/json.ts';
import type { Filter, Resource } from '../../db/model/resource.ts';
import type { Call, ListAnswer, QueryParameter, ReadCall } from '../operation.ts';
import type { ItemPage, PageRange, PageRequest } from '../records/records.ts';
import type { ListCursors } from '../signing/cursors.ts';
import type { ListIdentity } from '../signing/list-identity.ts';
import { selectionParameters } from './selections.ts';

/** Maximum page size of a v2 list. */
export const PAGE_ROWS_MAX = 200;
/** Default page size. */
export const PAGE_ROWS_DEFAULT = 20;

/** Parameters of every v2 list. */
export const PAGE_PARAMETERS: Record<string, QueryParameter> = {
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: PAGE_ROWS_MAX,
    initial: PAGE_ROWS_DEFAULT,
    description: 'Maximum number of records per page; a page of large records has fewer.',
  },
  cursor: {
    type: 'text',
    description: 'The end_cursor of the previous page; use the same order and filters.',
    example: 'k3RvQm9uZ2U0Y3Vyc29yZm9ydGhlbmV4dHBhZ2U',
  },
};

/** Parameters of a resource's list: page, order, time windows, filters. */
export function listParameters(resource: Resource): Record<string, QueryParameter> {
  const parameters: Record<string, QueryParameter> = {
    ...PAGE_PARAMETERS,
    sort_by: {
      type: resource.sorts,
      initial: 'created_at',
      description: 'The field to sort by; records with equal values are sorted by ID.',
    },
    sort_direction: {
      type: ['asc', 'desc'],
      initial: 'desc',
      description: 'asc lists the oldest first, desc the newest.',
    },
  };
  for (const column of resource.sorts) {
    const description = `Only records with ${column} at or after this time, in RFC 3339 or Unix milliseconds.`;
    parameters[column.replace('_at', '_since')] = { type: 'instant', description };
  }
  for (const [name, filter] of Object.entries(resource.filters)) {
    const { type, isAddress, description } = filter;
    parameters[name] = { type, isAddress, description, example: exampleOf(resource, name, filter) };
  }
  return { ...parameters, ...selectionParameters(resource) };
}

function exampleOf({ fields }: Resource, name: string, { type, references: [target] }: Filter): JsonValue {
  if (type === 'external ID') return EXTERNAL_ID_EXAMPLE;
  return target === undefined ? (fields[name]?.example ?? null) : exampleId(target);
}

/** Identifies this list, for its cursors: what a page shows of its records can change from page to page. */
export function identityOf({ access, query }: Call, path: string): ListIdentity {
  const { cursor, limit, include, fields, ...rest } = query;
  const sets = Object.entries(rest).map(([name, value]): [string, unknown] => [
    name,
    // A parameter that is sent several times names a set.
    Array.isArray(value) ? [...new Set(value)].sort() : value,
  ]);
  return { orgNumber: access.orgNumber, path, query: Object.fromEntries(sets) };
}

/** Responds with a page of links or external IDs; its cursors belong to the path and the query. */
export async function answerPage(
  call: ReadCall,
  path: string,
  list: (range: PageRange) => Promise<ItemPage>,
): Promise<ListAnswer> {
  const cursors = await call.cursors.of(identityOf(call, path));
  const after = cursors.open(call.query.cursor, call.now);
  const { items, hasNextPage, placeAfter } = await list({ after, limit: Number(call.query.limit) });
  const cursorAfter = (index: number) => cursors.issue(placeAfter(index));
  return { status: 200, object: 'list', data: items, hasNextPage, cursorAfter };
}

/** The request for a page of records. */
export function pageRequest({ query, now }: Call, resource: Resource, cursors: ListCursors): PageRequest {
  return {
    filters: filtersOf(resource, query),
    createdSince: numberOf(query.created_since),
    updatedSince: numberOf(query.updated_since),
    sortBy: query.sort_by === 'updated_at' ? 'updated_at' : 'created_at',
    direction: query.sort_direction === 'asc' ? 'asc' : 'desc',
    after: cursors.open(query.cursor, now),
    limit: Number(query.limit),
  };
}

function filtersOf(resource: Resource, query: Record<string, JsonValue>): Record<string, ColumnValue> {
  const filters: Record<string, ColumnValue> = {};
  for (const name in resource.filters) {
    const value = query[name];
    const filter = resource.filters[name];
    if (value === undefined || filter === undefined) continue;
    if (typeof value === 'boolean') filters[name] = value ? 1 : 0;
    else filters[name] = typeof value === 'number' ? value : filter.normalize(String(value));
  }
  return filters;
}

function numberOf(value: JsonValue | undefined): number | null {
  return typeof value === 'number' ? value : null;
}
