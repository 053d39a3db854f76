// Chooses how to go through the records of a query: which index leads.
import type { FilterNode } from '../model/query/filter.ts';
import type { Resource } from '../model/resource.ts';
import { boundsOf } from './bounds.ts';
import { ALL_IDS, type IdRange } from './id-ranges.ts';
import { findIds, type IdSource } from './id-sources.ts';
import type { ScanQuery } from './index-scan.ts';
import { type Lead, leadsOf } from './leads.ts';
import type { ValueBounds } from './sort-ranges.ts';
import { GatheredWalk, IndexWalk, SourceWalk, type Walk, type WalkQuery } from './walks.ts';

/** Up to so many records are gathered and then sorted, whatever the order. */
const GATHERED_MAX = 1_000;
// Each look whether a condition has few records reads up to that many entries.
const PROBES_MAX = 3;
// More sources than that are not followed side by side.
const SOURCES_MAX = 10;

/** The way through the records of a query. */
export async function planWalk(
  query: WalkQuery,
  filter: FilterNode,
  ownerId: string | null,
  rowsAtOnce: number,
): Promise<Walk> {
  const leads = leadsOf(query.resource, filter, ownerId);
  for (const lead of leads.slice(0, PROBES_MAX)) {
    const ids = await gather(query, lead);
    if (ids !== null) return GatheredWalk.of(query, ids, rowsAtOnce);
  }
  const { sort } = query;
  const bounds = boundsOf(filter, sort);
  if (sort.by === 'id') return byIds(query, leads, idRange(bounds));
  const lead = sort.name === 'updated_at' ? leads.find(({ column }) => column !== null) : undefined;
  return new IndexWalk(query, { ids: ALL_IDS, bounds, lead: lead?.column ?? null });
}

// The IDs of the records; null if there are too many.
async function gather({ db, org, examination }: WalkQuery, { ids, sources }: Lead): Promise<string[] | null> {
  if (ids !== null) return [...new Set(ids)];
  const found = new Set<string>();
  for (const source of sources) {
    const limit = GATHERED_MAX + 1 - found.size;
    const some = await findIds(db, org, source, limit);
    examination.add(some.entries);
    for (const id of some.ids) found.add(id);
    if (some.entries === limit || found.size > GATHERED_MAX) return null;
  }
  return [...found];
}

// In the order of IDs: along the index of the first lead that has them in order, or of all records.
function byIds(query: WalkQuery, leads: readonly Lead[], ids: IdRange): Walk {
  const followed = leads.find(({ sources, isSelective }) => {
    const isFew = sources.length > 0 && sources.length <= (isSelective ? SOURCES_MAX : 1);
    return isFew && sources.every(({ isOrdered }) => isOrdered);
  });
  const sources = followed?.sources ?? [];
  const [only] = sources;
  const lead = only === undefined || sources.length > 1 ? null : ownColumn(query.resource, only);
  if (sources.length > 0 && lead === null) return new SourceWalk(query, sources, ids);
  return new IndexWalk(query, { ids, bounds: { from: null, to: null }, lead });
}

// The column of the records themselves that a source goes by, so that its index leads to their rows.
function ownColumn({ name }: Resource, { table, id, value, given }: IdSource): ScanQuery['lead'] {
  if (table !== name || id !== 'id' || !('column' in value) || typeof given === 'object') return null;
  return { column: value.column, given };
}

function idRange({ from, to }: ValueBounds): IdRange {
  return { low: from === null ? ALL_IDS.low : String(from), high: to === null ? ALL_IDS.high : String(to) };
}
