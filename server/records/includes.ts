// What responses include besides records: looked up for all records of a page at once, and shown as lists show it.

import type { Data } from '../../db/model/json.ts';
import { RELATED_MAX } from '../../db/model/resource.ts';
import type { Include } from '../../db/model/resources/includes.ts';
import { idsNewestFirst, listRelatedIds } from '../../db/records/related-ids.ts';
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
      records: [],
    })),
  );
  const count = await readWhatFits(found, wanted, records.length);
  const whole = new Map(includes.map(({ group }) => [group, new Set<IncludedRecord>()]));
  const ids = Array.from({ length: count }, (_, index) => idsOf(wanted, whole, index));
  return { count, ids, included: { whole, of: (index) => includedBy(wanted, index) } };
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
  whole: ReadonlyMap<string, Set<IncludedRecord>>,
  index: number,
): Record<string, string[]> {
  const byName: Record<string, string[]> = {};
  for (const one of wanted) {
    const group = whole.get(one.group.include.group);
    byName[one.name] = shownOf(one, index).map((record) => {
      group?.add(record);
      return record.id;
    });
  }
  return byName;
}

function includedBy(wanted: readonly Wanted[], index: number): [string, IncludedRecord][] {
  return wanted.flatMap((one) =>
    shownOf(one, index).map((record): [string, IncludedRecord] => [one.group.include.group, record]),
  );
}

// The newest of those that are there and not hidden.
function shownOf({ records }: Wanted, index: number): IncludedRecord[] {
  return (records[index] ?? []).filter(({ json }) => json !== null).slice(0, RELATED_MAX);
}
