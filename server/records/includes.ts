// What responses include besides records: looked up for all records of a page at once, and shown as lists show it.

import type { Data } from '../../db/model/json.ts';
import { RELATED_MAX } from '../../db/model/resource.ts';
import type { Include } from '../../db/model/resources/includes.ts';
import { idsNewestFirst, listRelatedIds } from '../../db/tables/related-ids.ts';
import { ownerFilter } from '../access.ts';
import type { IncludedRecord, IncludedRecords } from '../included.ts';
import { FoundRecords, readWhatFits, type Wanted } from './included-records.ts';
import type { Reader } from './rules.ts';

/** What the records of a page include. */
export interface Inclusion {
  /** How many of the records fit on the page together with what they include: at least one, if there are any. */
  count: number;
  /** The IDs of what each of those includes, by the names in `include`, newest first. */
  ids: readonly Record<string, string[]>[];
  included: IncludedRecords;
}

/** Looks up what records include, without what the key cannot see. Their references must be among their fields. */
export async function includeRecords(
  reader: Reader,
  includes: readonly Include[],
  records: readonly Data[],
): Promise<Inclusion> {
  const found = new FoundRecords(reader);
  const wanted = await Promise.all(
    includes.map(async (include) => ({
      name: include.name,
      group: found.groupOf(include),
      ids: await findIds(reader, include, records),
    })),
  );
  const count = await readWhatFits(found, wanted, records.length);
  const whole = new Map(includes.map(({ group }) => [group, new Map<string, Data>()]));
  const ids = Array.from({ length: count }, (_, index) => idsOf(wanted, whole, index));
  return { count, ids, included: { whole, of: (index) => includedBy(wanted, ids[index]) } };
}

// What it refers to can be hidden, so more is looked for than is shown.
async function findIds(
  { db, access }: Reader,
  include: Include,
  records: readonly Data[],
): Promise<Wanted['ids']> {
  const { resource, ways } = include;
  const columns = ways.flatMap((way) => (way.kind === 'own' ? [way.other] : []));
  const own = records.map((record) => referredTo(record, columns));
  if (columns.length === ways.length) return own;
  const ids = records.map(({ id }) => String(id));
  const ownerId = resource === null ? null : ownerFilter(access, resource);
  const related = await listRelatedIds(db, include, { orgNumber: access.orgNumber, ownerId }, ids);
  return own.map((some, index) => merged(some, related.get(ids[index] ?? '') ?? NONE));
}

const NONE: readonly string[] = [];

function referredTo(record: Data, columns: readonly string[]): readonly string[] {
  if (columns.length === 0) return NONE;
  const ids: string[] = [];
  for (const column of columns) {
    const id = record[column];
    if (typeof id === 'string') ids.push(id);
  }
  return ids;
}

function merged(own: readonly string[], others: readonly string[]): readonly string[] {
  return own.length === 0 ? others : idsNewestFirst(new Set([...own, ...others]));
}

// Adds what it includes to the whole.
function idsOf(
  wanted: readonly Wanted[],
  whole: ReadonlyMap<string, Map<string, Data>>,
  index: number,
): Record<string, string[]> {
  const byName: Record<string, string[]> = {};
  for (const { name, group, ids } of wanted) {
    const shown: string[] = [];
    const included = whole.get(group.include.group);
    for (const id of ids[index] ?? NONE) {
      const record = group.records.get(id);
      if (record === undefined) continue;
      if (shown.length === RELATED_MAX) break;
      shown.push(id);
      included?.set(id, record);
    }
    byName[name] = shown;
  }
  return byName;
}

function includedBy(
  wanted: readonly Wanted[],
  ids: Readonly<Record<string, string[]>> = {},
): IncludedRecord[] {
  return wanted.flatMap(({ name, group: { include, records } }) =>
    (ids[name] ?? NONE).flatMap((id) => {
      const record = records.get(id);
      return record === undefined ? [] : [{ group: include.group, id, record }];
    }),
  );
}
