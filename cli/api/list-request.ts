// Turns the options of `list` and `export` into requests, page by page.
import type { Data } from '../../db/model/json.ts';
import type { Include } from '../../db/model/resources/includes.ts';
import { usageError } from '../errors.ts';
import { didYouMean } from '../nearest.ts';
import type { ColumnLayout } from '../terminal/output.ts';
import type { Client } from './client.ts';
import { resourceColumns, targetColumns, v1Columns } from './column-layout.ts';
import { assertId } from './ids.ts';
import { parseIncludes } from './includes.ts';
import { listAt, type Pageable, pageFrom } from './pages.ts';
import { fieldsNeeded, listOfFields } from './selected-fields.ts';
import { isTarget, parseTarget, resourceFor, resourcePath } from './target.ts';
import { findV1List, V1_LISTS } from './v1.ts';

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
  const windows = resource.sorts.map((sort) => [sort.replace(/_at$/, '_since'), []]);
  const filters = Object.entries(resource.filters).map(([name, { references }]) => [name, references]);
  const query = parseFilters(resource.name, options.filter, Object.fromEntries([...filters, ...windows]));
  const { sortBy, sortDirection } = options;
  if (sortBy !== undefined) query.sort_by = sortBy;
  if (sortDirection !== undefined) query.sort_direction = sortDirection;
  const includes = parseIncludes(options.include, resource);
  const look = resourceColumns(resource);
  const fields = fieldsNeeded(options.fields, look.allFields);
  const path = resourcePath(resource);
  const edge = async (client: Client, direction: 'asc' | 'desc'): Promise<Data | undefined> => {
    const newest = listAt(path, { ...query, sort_by: 'created_at', sort_direction: direction });
    return (await newest.page(client, null, 1)).records[0];
  };
  const shown = includes.length === 0 ? query : { ...query, include: includes.map(({ name }) => name) };
  const list = fields === undefined ? listAt(path, shown) : listOfFields(path, shown, fields);
  return { name: resource.name, look, includes, ...list, edge };
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
  return { name: what, look: targetColumns(target), includes: [], ...listAt(target.path) };
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
  const filter = parseFilters(list.name, options.filter, list.filters);
  return {
    name: list.name,
    look: v1Columns(list),
    includes: [],
    pageSizeMax: list.pageSizeMax,
    page: async (client, cursor, limit) => {
      const body = { limit, filter, ...(cursor !== null && { cursor }) };
      return pageFrom(await client.request('POST', list.path, { body }));
    },
  };
}

/** Parses the filters; `allowed` maps each to the resources whose IDs it accepts. */
function parseFilters(
  name: string,
  filters: readonly string[] | undefined,
  allowed: Readonly<Record<string, readonly string[]>>,
): Record<string, string> {
  const parsed: Record<string, string> = {};
  for (const filter of filters ?? []) {
    const { key, value } = splitPair(filter, '--filter');
    const references = Object.hasOwn(allowed, key) ? allowed[key] : undefined;
    if (references === undefined) {
      const names = Object.keys(allowed);
      throw usageError(
        `Unknown filter "${key}" for ${name}.${didYouMean(key, names)}`,
        `use one of: ${names.join(', ')}.`,
      );
    }
    if (value === '') {
      throw usageError(
        `--filter ${key}= has no value.`,
        `add a value, like ${key}=VALUE. Filters cannot find records with an empty field.`,
      );
    }
    if (references.length > 0) assertId(key, value, references);
    if (Object.hasOwn(parsed, key))
      throw usageError(`The filter "${key}" is given twice.`, 'use each filter only once.');
    parsed[key] = value;
  }
  return parsed;
}

/** Splits `key=value` at the first equals sign. */
export function splitPair(text: string, what: string): { key: string; value: string } {
  const at = text.indexOf('=');
  if (at < 1)
    throw usageError(`${what} "${text}" does not have the form key=value.`, 'write it as key=value.');
  return { key: text.slice(0, at), value: text.slice(at + 1) };
}
