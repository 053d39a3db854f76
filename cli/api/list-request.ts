// Turns the options of `list` and `export` into requests, page by page.
import type { Data } from '../../db/model/json.ts';
import type { Include } from '../../db/model/resources/includes.ts';
import { usageError } from '../errors.ts';
import type { ColumnLayout } from '../terminal/output.ts';
import type { Client } from './client.ts';
import { resourceColumns, targetColumns, v1Columns } from './column-layout.ts';
import { checkedFilters, type FilterShape, type FilterShapes, filtersOf } from './filters.ts';
import { parseIncludes } from './includes.ts';
import { listAt, PAGE_SIZE_MAX, type Pageable, pageFrom } from './pages.ts';
import { References } from './references.ts';
import { fieldsNeeded, listOfFields } from './selected-fields.ts';
import { isTarget, parseTarget, resourceFor, resourcePath, wholePath } from './target.ts';
import { findV1List, V1_LISTS, type V1List } from './v1.ts';

export interface ListOptions {
  api: 'v1' | 'v2';
  /** Each as `key=value`. */
  filter?: readonly string[];
  sortBy?: string;
  sortDirection?: string;
  /** Both separated by commas. */
  include?: string;
  fields?: string;
}

/** A list, and the look of its records. */
export interface ListRequest extends Pageable {
  /** What the records are called. */
  name: string;
  look: ColumnLayout;
  /** What its responses include besides records. */
  includes: readonly Include[];
  /** Its oldest or newest record; undefined if the list cannot be sorted by time. */
  edge?(client: Client, direction: 'asc' | 'desc'): Promise<Data | undefined>;
}

/** Prepares the list of a resource, or of a sub-resource such as `deals/ID/contacts`. */
export function listRequest(what: string, options: ListOptions): ListRequest {
  if (options.api === 'v1') return v1Request(what, options);
  if (isTarget(what)) return subResourceRequest(what, options);
  const resource = resourceFor(what, 'list');
  const filters = checkedFilters(resource.name, options.filter ?? [], filtersOf(resource));
  const { sortBy, sortDirection } = options;
  const order = {
    ...(sortBy !== undefined && { sort_by: sortBy }),
    ...(sortDirection !== undefined && { sort_direction: sortDirection }),
  };
  const includes = parseIncludes(options.include, resource);
  const look = resourceColumns(resource);
  const fields = fieldsNeeded(options.fields, look.allFields);
  const path = resourcePath(resource);
  const include = includes.length > 0 && { include: includes.map(({ name }) => name) };
  const query = onceFor(async (client) => filters.query(new References(client)));
  const list = onceFor(async (client) => {
    const shown = { ...(await query(client)), ...order, ...include };
    return fields === undefined ? listAt(path, shown) : listOfFields(path, shown, fields);
  });
  const edge = async (client: Client, direction: 'asc' | 'desc'): Promise<Data | undefined> => {
    const byTime = { sort_by: 'created_at', sort_direction: direction };
    const all = listAt(path, { ...(await query(client)), ...byTime });
    return (await all.page(client, null, 1)).records[0];
  };
  return {
    name: resource.name,
    look,
    includes,
    pageSizeMax: PAGE_SIZE_MAX,
    page: async (client, cursor, limit) => (await list(client)).page(client, cursor, limit),
    edge,
  };
}

/** What is found out with the first request of a list, and kept for the others. */
function onceFor<T>(find: (client: Client) => Promise<T>): (client: Client) => Promise<T> {
  let found: Promise<T> | undefined;
  return (client) => {
    found ??= find(client);
    return found;
  };
}

function subResourceRequest(what: string, options: ListOptions): ListRequest {
  const target = parseTarget(what);
  if (target.association !== undefined) {
    throw usageError(`${what} is one record, not a list.`, `run: crm get ${what}`);
  }
  const { filter, sortBy, sortDirection, include } = options;
  if ([filter, sortBy, sortDirection, include].some((option) => option !== undefined)) {
    throw usageError(
      `${what} does not support --filter, --sort-by, --sort-direction or --include.`,
      'remove them. The newest comes first.',
    );
  }
  const list = onceFor(async (client) => listAt(await wholePath(target, new References(client))));
  return {
    name: what,
    look: targetColumns(target),
    includes: [],
    pageSizeMax: PAGE_SIZE_MAX,
    page: async (client, cursor, limit) => (await list(client)).page(client, cursor, limit),
  };
}

function v1Request(what: string, options: ListOptions): ListRequest {
  const list = findV1List(what);
  if (list === undefined) {
    const names = V1_LISTS.map((one) => one.name).join(' and ');
    throw usageError(`API v1 cannot list ${what}.`, `remove --api v1, or list ${names}.`);
  }
  if (options.sortBy !== undefined || options.sortDirection !== undefined) {
    throw usageError('API v1 cannot sort.', 'remove --sort-by and --sort-direction, or --api v1.');
  }
  if (options.include !== undefined)
    throw usageError('API v1 does not include other records.', 'remove --include, or --api v1.');
  const filters = checkedFilters(list.name, options.filter ?? [], wholeIdsOnly(list.filters));
  return {
    name: list.name,
    look: v1Columns(list),
    includes: [],
    pageSizeMax: list.pageSizeMax,
    page: async (client, cursor, limit) => {
      const filter = await filters.query(new References(client));
      const body = { limit, filter, ...(cursor !== null && { cursor }) };
      return pageFrom(await client.request('POST', list.path, { body }));
    },
  };
}

// Names and short IDs would take requests that keys of this version cannot make.
function wholeIdsOnly(filters: V1List['filters']): FilterShapes {
  const shapes = Object.entries(filters).map(([name, references]): [string, FilterShape] => [
    name,
    { type: 'text', references, hasWholeIds: true },
  ]);
  return Object.fromEntries(shapes);
}
