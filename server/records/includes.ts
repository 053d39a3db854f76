// What responses include besides records: looked up for all records of a page at once, and shown as lists show it.

import type { Data } from '../../db/model/json.ts';
import { type Include, RELATED_MAX } from '../../db/model/resources/includes.ts';
import { idsNewestFirst, listRelatedIds } from '../../db/tables/related-ids.ts';
import { ownerFilter } from '../access.ts';
import type { IncludedRecords } from '../included.ts';
import { FoundRecords, readWhatFits, type Wanted } from './included-records.ts';
import type { Reader } from './rules.ts';

/** What the records of a page include. */
export interface Inclusion extends IncludedRecords {
  /** How many of the records fit on the page together with what they include: at least one, if there are any. */
  count: number;
  /** The IDs of what each of those includes, by the names in `include`, newest first. */
  ids: readonly Readonly<Record<string, string[]>>[];
}

/** Looks up what records include, without what the key cannot see. Their references must be among their fields. */
export async function includeRecords(
  reader: Reader,
  includes: readonly Include[],
  records: readonly Data[],
): Promise<Inclusion> {
  const candidates = await findCandidates(reader, includes, records);
  const found = new FoundRecords(reader, includes);
  const count = await readWhatFits(found, candidates);
  const ids = candidates.slice(0, count).map((wanted) => idsOf(wanted, found));
  return {
    count,
    ids,
    groups: [...new Set(includes.map(({ group }) => group))],
    of: (index) =>
      includes.flatMap(({ name, group }) =>
        (ids[index]?.[name] ?? []).map((id) => ({ group, id, record: found.get(group, id) ?? {} })),
      ),
  };
}

// By name, newest first: what the records refer to can be hidden, so there can be more than are shown.
async function findCandidates(
  { db, access }: Reader,
  includes: readonly Include[],
  records: readonly Data[],
): Promise<Wanted[]> {
  const ids = records.map(({ id }) => String(id));
  const related = await Promise.all(
    includes.map((include) => {
      const ownerId = include.resource === null ? null : ownerFilter(access, include.resource);
      return listRelatedIds(db, include, { orgNumber: access.orgNumber, ownerId }, ids);
    }),
  );
  return records.map((record, index) =>
    includes.map((include, place) => {
      const others = related[place]?.get(ids[index] ?? '') ?? [];
      return { include, ids: idsNewestFirst(new Set([...referredTo(include, record), ...others])) };
    }),
  );
}

function referredTo({ ways }: Include, record: Data): string[] {
  return ways.flatMap((way) => {
    const id = way.kind === 'own' ? record[way.column] : null;
    return typeof id === 'string' ? [id] : [];
  });
}

function idsOf(wanted: Wanted, found: FoundRecords): Record<string, string[]> {
  return Object.fromEntries(
    wanted.map(({ include: { name, group }, ids }) => [
      name,
      ids.filter((id) => found.get(group, id) !== undefined).slice(0, RELATED_MAX),
    ]),
  );
}
