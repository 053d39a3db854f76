// Queries and counts of records: hidden records named in a filter count as absent, and what is found is shown as in lists.

import { nextTurn } from '../../db/event-loop.ts';
import type { Data } from '../../db/model/json.ts';
import { type Condition, conditionsIn, type FilterNode } from '../../db/model/query/filter.ts';
import { getQuerySort, type QueryDirection, type QueryPlace } from '../../db/model/query/sorts.ts';
import type { Resource } from '../../db/model/resource.ts';
import { findResource } from '../../db/model/resources/registry.ts';
import { type Count, countRecords, findQueryPage, type RecordQuery } from '../../db/queries/run-query.ts';
import { findPage } from '../../db/records/records.ts';
import { canSee } from '../access.ts';
import { presentAll } from './records.ts';
import { findVisibleIds } from './references.ts';
import type { Reader } from './rules.ts';

/** A page of a query. */
export interface QueryRequest {
  filter: FilterNode;
  sortBy: string;
  direction: QueryDirection;
  /** The place before it; null for the first page. */
  after: QueryPlace | null;
  limit: number;
  /** Fields that the response does not show. */
  unseen: readonly string[] | undefined;
}

export interface QueryPage {
  records: Data[];
  /** The place of each record. */
  places: QueryPlace[];
  /** The place from which to continue; null if no more records can follow. */
  next: QueryPlace | null;
}

/** The records of a page that the key can see, in order. */
export async function queryPage(
  reader: Reader,
  resource: Resource,
  request: QueryRequest,
): Promise<QueryPage> {
  const { db, access } = reader;
  const query = await visibleQuery(reader, resource, request.filter);
  const sort = getQuerySort(resource, request.sortBy);
  const found = await findQueryPage(db, { ...request, ...query, sort });
  const ids = found.places.map(({ id }) => id);
  const page = await findPage(db, resource, { orgNumber: access.orgNumber, ids, unseen: request.unseen });
  const byId = new Map(page.rows.map((row) => [row.id, row]));
  const read = found.places.slice(0, page.ids);
  // What was deleted or given away since it was found is left out.
  const places = read.filter(({ id }) => {
    const row = byId.get(id);
    return row !== undefined && canSee(access, resource, row);
  });
  const rows = places.flatMap(({ id }) => byId.get(id) ?? []);
  const isCut = read.length < found.places.length;
  const next = isCut ? (read.at(-1) ?? null) : found.next;
  return { records: await presentAll(reader, resource, rows), places, next };
}

/** How many records that the key can see meet a filter. */
export async function countMatching(reader: Reader, resource: Resource, filter: FilterNode): Promise<Count> {
  return countRecords(reader.db, await visibleQuery(reader, resource, filter));
}

/** What a query is about for a key, which finds nothing by the IDs of records that it cannot see. */
export async function visibleQuery(
  reader: Reader,
  resource: Resource,
  filter: FilterNode,
): Promise<RecordQuery> {
  const { orgNumber, userId } = reader.access;
  return { orgNumber, userId, resource, filter: await withoutHidden(reader, filter) };
}

// Some are read at a time, with all their fields.
const IDS_AT_ONCE = 100;

// The filter without the IDs of records that the key cannot see: they are found nowhere.
async function withoutHidden(reader: Reader, filter: FilterNode): Promise<FilterNode> {
  if (reader.access.userId === null) return filter;
  const visible = new Map<Resource, Set<string>>();
  for (const condition of conditionsIn(filter)) {
    const target = targetOf(condition);
    if (target === null) continue;
    const known = visible.getOrInsertComputed(target, () => new Set());
    const ids = condition.values.map(String);
    for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
      const some = ids.slice(from, from + IDS_AT_ONCE);
      for (const id of await findVisibleIds(reader.db, reader.access, target, some)) known.add(id);
      await nextTurn();
    }
  }
  return mapConditions(filter, (condition) => {
    const target = targetOf(condition);
    if (target === null) return condition;
    const values = condition.values.filter((id) => visible.get(target)?.has(String(id)) === true);
    return { ...condition, values };
  });
}

// The resource whose IDs a condition has, if records of it can be hidden.
function targetOf({ field, operator }: Condition): Resource | null {
  if (operator === 'is_null') return null;
  const target = field.relation?.target ?? findResource(field.field?.references ?? '');
  return target === undefined || target.owner === null ? null : target;
}

function mapConditions(node: FilterNode, change: (condition: Condition) => Condition): FilterNode {
  if ('all' in node) return { all: node.all.map((part) => mapConditions(part, change)) };
  if ('any' in node) return { any: node.any.map((part) => mapConditions(part, change)) };
  return 'not' in node ? { not: mapConditions(node.not, change) } : change(node);
}
