// Pages of v2 lists: their query parameters, and the way from a request to a page and on to the next cursor.
import { type ColumnValue, exampleId } from '../../db/model/fields.ts';
import type { JsonValue } from '../../db/model/json.ts';
import type { Filter, Resource } from '../../db/model/resource.ts';
import type { Call, QueryParameter } from '../operation.ts';
import type { PageRequest } from '../records/records.ts';
import type { ListIdentity } from '../signing/cursors.ts';

/** Largest page of a v2 list. */
export const PAGE_ROWS_MAX = 200;
/** Page of a list that does not say. */
export const PAGE_ROWS_DEFAULT = 20;

/** Parameters that every v2 list takes. */
export const PAGE_PARAMETERS: Record<string, QueryParameter> = {
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: PAGE_ROWS_MAX,
    initial: PAGE_ROWS_DEFAULT,
    description: 'How many records a page has at most; a page of large ones has fewer.',
  },
  cursor: {
    type: 'text',
    description: 'The end_cursor of the page before, with the same order and filters.',
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
      description: 'What the list is ordered by; ties by id.',
    },
    sort_direction: { type: ['asc', 'desc'], initial: 'desc', description: 'Oldest or newest first.' },
  };
  for (const column of resource.sorts) {
    const description = `${column} at or after this instant; RFC 3339 or Unix milliseconds.`;
    parameters[column.replace('_at', '_since')] = { type: 'instant', description };
  }
  for (const [name, filter] of Object.entries(resource.filters)) {
    const { type, isAddress, description } = filter;
    parameters[name] = { type, isAddress, description, example: exampleOf(resource, name, filter) };
  }
  return parameters;
}

function exampleOf({ fields }: Resource, name: string, { references: [target] }: Filter): JsonValue {
  return target === undefined ? (fields[name]?.example ?? null) : exampleId(target);
}

/** What tells this list from others, for its cursors. */
export function identityOf({ access, query }: Call, path: string): ListIdentity {
  const { cursor, limit, ...rest } = query;
  return { orgId: access.orgId, path, query: rest };
}

/** The request for a page of records. */
export function pageRequest(call: Call, resource: Resource, identity: ListIdentity): PageRequest {
  const { query } = call;
  return {
    filters: filtersOf(resource, query),
    createdSince: numberOf(query.created_since),
    updatedSince: numberOf(query.updated_since),
    sortBy: query.sort_by === 'updated_at' ? 'updated_at' : 'created_at',
    direction: query.sort_direction === 'asc' ? 'asc' : 'desc',
    after: placeOf(call, identity),
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

function placeOf(
  { query, cursors, now }: Call,
  identity: ListIdentity,
): { value: number; id: string } | null {
  if (typeof query.cursor !== 'string') return null;
  const [value, id] = cursors.open(identity, query.cursor, now);
  return { value: Number(value), id: String(id) };
}

function numberOf(value: JsonValue | undefined): number | null {
  return typeof value === 'number' ? value : null;
}
