// What `list` and `export` ask for: a list, or a query for what lists have no words for.
import type { Data } from '../../db/model/json.ts';
import { querySorts } from '../../db/model/query/sorts.ts';
import type { Resource } from '../../db/model/resource.ts';
import { joinWithOr } from '../../db/model/text.ts';
import type { Client } from '../api/client.ts';
import { resourceColumns } from '../api/column-layout.ts';
import { IdFinder } from '../api/id-finder.ts';
import { parseIncludes } from '../api/includes.ts';
import { type ListOptions, type ListRequest, listRequest } from '../api/list-request.ts';
import { listAt, PAGE_SIZE_MAX, pageFrom } from '../api/pages.ts';
import { fieldsNeeded } from '../api/selected-fields.ts';
import { isTarget, resourceFor, resourcePath } from '../api/target.ts';
import { type CliError, usageError } from '../errors.ts';
import { didYouMean } from '../nearest.ts';
import { filterOfWhere } from './filter.ts';
import { foundFilter } from './names.ts';
import { askQuery, queriedResource } from './query.ts';

export interface RecordsOptions extends ListOptions {
  where?: string;
}

/** Prepares the list of a resource or a sub-resource; a query if it has conditions, or an order that lists do not have. */
export function recordsRequest(what: string, options: RecordsOptions): ListRequest {
  const { where, sortBy, api } = options;
  if (where !== undefined && api === 'v1')
    throw usageError('API v1 has no --where.', 'remove --where, or --api v1.');
  if (where !== undefined) return queryRequest(queriedResource(what, where), options);
  if (sortBy === undefined || api === 'v1' || isTarget(what)) return listRequest(what, options);
  const resource = resourceFor(what, 'list');
  checkSort(resource, sortBy);
  return resource.sorts.some((sort) => sort === sortBy)
    ? listRequest(what, options)
    : queryRequest(resource, options);
}

function queryRequest(resource: Resource, options: RecordsOptions): ListRequest {
  const { where, filter: listFilter, sortBy, sortDirection, fields } = options;
  const look = resourceColumns(resource);
  const includes = parseIncludes(options.include, resource);
  if (sortBy !== undefined) checkSort(resource, sortBy);
  if (listFilter !== undefined) throw filterBesides(where, sortBy);
  const shown = fieldsNeeded(fields, look.allFields);
  const condition = where === undefined ? undefined : filterOfWhere(resource, where);
  const query: Data = {
    ...(sortBy !== undefined && { sort_by: sortBy }),
    ...(sortDirection !== undefined && { sort_direction: sortDirection }),
    ...(shown !== undefined && { fields: shown }),
    ...(includes.length > 0 && { include: includes.map(({ name }) => name) }),
  };
  const path = resourcePath(resource);
  let filter: Promise<Data> | undefined;
  return {
    name: resource.name,
    look,
    includes,
    pageSizeMax: PAGE_SIZE_MAX,
    page: async (client, cursor, limit) => {
      if (condition !== undefined) filter ??= foundFilter(condition, resource, new IdFinder(client));
      const found = filter === undefined ? query : { ...query, filter: await filter };
      const body = { ...found, limit, ...(cursor !== null && { cursor }) };
      return pageFrom(await askQuery(client, resource, 'query', body));
    },
    edge: async (client: Client, direction) => {
      // Of all records: a query could go through all of them for its newest.
      const all = listAt(path, { sort_by: 'created_at', sort_direction: direction });
      return (await all.page(client, null, 1)).records[0];
    },
  };
}

function checkSort(resource: Resource, sortBy: string): void {
  const sorts = querySorts(resource);
  if (sorts.includes(sortBy)) return;
  throw usageError(
    `Cannot sort ${resource.name} by "${sortBy}".${didYouMean(sortBy, sorts)}`,
    `sort by ${joinWithOr(sorts)}.`,
  );
}

function filterBesides(where: string | undefined, sortBy: string | undefined): CliError {
  const step = "write the filter as a condition, such as --where 'status = open'.";
  if (where !== undefined) return usageError('Use either --where or --filter, not both.', step);
  return usageError(`--sort-by ${sortBy} does not work with --filter.`, step);
}
