// Chooses the filter that drives the search for a page, and how.
import { memoize } from '../cache.ts';
import { type Db, linkTable } from '../engine/schema.ts';
import { statement } from '../engine/statement.ts';
import type { ColumnValue } from '../model/fields.ts';
import type { Match, Resource } from '../model/resource.ts';
import type { ListQuery } from '../tables/list-query.ts';

export type LinkMatch = Extract<Match, { table: string }>;

/** The filter that drives the search for a page, with one of its matches at a time, so that each search uses an index. */
export interface LeadingFilter {
  name: string;
  match: Match;
  index: number;
  way: Way;
}

/**
 * How to search by a link, in a table sorted by the IDs of records: follow the links, in order or with the records sorted
 * by updated_at, or scan the records and look each up among the links.
 */
type Way = 'in order' | 'to be sorted' | 'one by one';

/** The matches to search by, one after the other; null to scan the list in order. */
export async function leadingFiltersOf(
  db: Db,
  resource: Resource,
  query: ListQuery,
): Promise<(LeadingFilter | null)[]> {
  for (const [name, value] of Object.entries(query.filters)) {
    const matches = resource.filters[name]?.match ?? [];
    if (matches.length <= 1 && !matches.some((match) => 'table' in match)) continue;
    const leads: LeadingFilter[] = [];
    for (const [index, match] of matches.entries()) {
      leads.push({ name, match, index, way: await wayOf(db, match, query, value) });
    }
    return leads;
  }
  return [null];
}

// If nothing else narrows the list down, and it needs no sorting, at most this many links are followed.
const FOLLOWED_MAX = 1_000;

const more = memoize(({ table, record, value }: LinkMatch) =>
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
  const { orgNumber, ownerId, filters, sortBy } = query;
  const isAlone = ownerId === null && Object.keys(filters).length === 1;
  if (isAlone && sortBy === 'created_at') return 'in order';
  const rest = await more(match)(db, { org: orgNumber, value, offset: FOLLOWED_MAX });
  if (rest.length > 0) return 'one by one';
  return sortBy === 'created_at' ? 'in order' : 'to be sorted';
}
