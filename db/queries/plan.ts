// Chooses how to go through the records of a query: which index leads.
import type { FilterNode } from '../model/query/filter.ts';
import { boundsOf } from './bounds.ts';
import { ALL_IDS, type IdRange } from './id-ranges.ts';
import { findIds } from './id-sources.ts';
import { type Lead, leadsOf } from './leads.ts';
import type { ValueBounds } from './sort-ranges.ts';
import { GatheredWalk, IndexWalk, SourceWalk, type Walk, type WalkQuery } from './walks.ts';

/** Up to so many records are gathered and then sorted, whatever the order. */
export const GATHERED_MAX = 1_000;
// Each look whether a condition has few records reads up to that many entries.
const PROBES_MAX = 3;
// More sources than that are not followed side by side.
const SOURCES_MAX = 10;

/** How a query goes through the records, for tests. */
export type QueryPath = 'gathered' | 'sources' | 'lead' | 'order';

/** The way through the records of a query. */
export async function planWalk(
  query: WalkQuery,
  filter: FilterNode,
  ownerId: string | null,
  rowsAtOnce: number,
): Promise<{ walk: Walk; way: QueryPath }> {
  const leads = leadsOf(query.resource, filter, ownerId);
  for (const lead of leads.slice(0, PROBES_MAX)) {
    const ids = await gather(query, lead);
    if (ids !== null) return { walk: await GatheredWalk.of(query, ids, rowsAtOnce), way: 'gathered' };
  }
  const bounds = boundsOf(filter, query.sort);
  return along(query, leads, bounds);
}

// The IDs of the records; null if there are too many.
async function gather({ db, org, examination }: WalkQuery, { ids, sources }: Lead): Promise<string[] | null> {
  if (ids !== null) return [...new Set(ids)];
  const found = new Set<string>();
  for (const source of sources) {
    const limit = GATHERED_MAX + 1 - found.size;
    const some = await findIds(db, org, source, limit);
    examination.add(some.length);
    for (const id of some) found.add(id);
    if (some.length === limit || found.size > GATHERED_MAX) return null;
  }
  return [...found];
}

function along(
  query: WalkQuery,
  leads: readonly Lead[],
  bounds: ValueBounds,
): { walk: Walk; way: QueryPath } {
  const { sort, resource } = query;
  const ids = sort.by === 'id' ? idRange(bounds) : ALL_IDS;
  const none: ValueBounds = { from: null, to: null };
  if (sort.by === 'id') {
    for (const { sources, isSelective } of leads) {
      if (sources.length > (isSelective ? SOURCES_MAX : 1)) continue;
      if (sources.some(({ isOrdered }) => !isOrdered)) continue;
      const [only] = sources;
      if (only === undefined) continue;
      if (
        sources.length === 1 &&
        only.table === resource.name &&
        only.id === 'id' &&
        'column' in only.value
      ) {
        const { column } = only.value;
        if (typeof only.given === 'object') continue;
        const lead = { column, given: only.given };
        return { walk: new IndexWalk(query, { ids, bounds: none, lead }), way: 'lead' };
      }
      return { walk: new SourceWalk(query, sources, ids), way: 'sources' };
    }
  }
  if (sort.name === 'updated_at') {
    const lead = leads.find(({ column }) => column !== null)?.column ?? null;
    if (lead !== null) return { walk: new IndexWalk(query, { ids, bounds, lead }), way: 'lead' };
  }
  return {
    walk: new IndexWalk(query, { ids, bounds: sort.by === 'id' ? none : bounds, lead: null }),
    way: 'order',
  };
}

function idRange({ from, to }: ValueBounds): IdRange {
  return { low: from === null ? ALL_IDS.low : String(from), high: to === null ? ALL_IDS.high : String(to) };
}
