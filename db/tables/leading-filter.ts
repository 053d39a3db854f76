// Which filter a page is searched by, and on which way.
import { memoize } from '../cache.ts';
import { type Db, linkTable } from '../engine/schema.ts';
import { statement } from '../engine/statement.ts';
import type { ColumnValue } from '../model/fields.ts';
import type { Match, Resource } from '../model/resource.ts';
import type { ListQuery } from './list-query.ts';

export type LinkMatch = Extract<Match, { table: string }>;

/** The filter that a page is searched by: one of its matches at a time, so that each search has an index to follow. */
export interface Lead {
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

/** The matches to search by, one after the other; null to go through the list as it is. */
export async function leadsOf(db: Db, resource: Resource, query: ListQuery): Promise<(Lead | null)[]> {
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
  const { orgId, ownerId, filters, sortBy } = query;
  const isAlone = ownerId === null && Object.keys(filters).length === 1;
  if (isAlone && sortBy === 'created_at') return 'in order';
  const rest = await more(match)(db, { org: orgId, value, offset: FOLLOWED_MAX });
  if (rest.length > 0) return 'one by one';
  return sortBy === 'created_at' ? 'in order' : 'to be sorted';
}
