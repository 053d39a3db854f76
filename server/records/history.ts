// The history of one record: its changes, newest first, also of a deleted one while they are kept.

import type { LogState } from '../../db/changes/log-state.ts';
import { type ChangeFilters, listChanges } from '../../db/changes/queries.ts';
import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { findRecord } from '../../db/records/records.ts';
import { idOfBytes } from '../../db/tables/id-bytes.ts';
import { canSee } from '../access.ts';
import { notFound } from '../errors.ts';
import { readViews, showChanges } from './change-feed.ts';
import { type ChangeView, sees } from './change-views.ts';
import type { Reader } from './rules.ts';

/** Which part of a history is wanted. */
export interface HistoryRequest {
  log: LogState;
  /** The sequence number of the change before which it begins; null for the newest. */
  before: number | null;
  limit: number;
}

export interface HistoryPage {
  items: Data[];
  /** The sequence number of each item. */
  sequences: number[];
  hasNextPage: boolean;
}

/**
 * A page of the changes of a record.
 * @throws ApiError 404 if the key cannot see the record, or could not when it was deleted
 */
export async function readHistory(
  reader: Reader,
  resource: Resource,
  id: string,
  { log: { first, last }, before, limit }: HistoryRequest,
): Promise<HistoryPage> {
  const filters: ChangeFilters = { resources: [resource.name], recordId: id, action: null, request: null };
  const range = { from: first, to: last };
  await requireSight(reader, resource, id, { ...filters, ...range });
  const { views, rest } = await readViews(reader, {
    filters,
    direction: 'desc',
    range: before === null ? range : { from: first, to: Math.min(last, before - 1) },
    limit: limit + 1,
    examinedMax: Number.POSITIVE_INFINITY,
    // Before that, it was another user's.
    isLast: ({ action }) => action === 'created',
  });
  const shown: ChangeView[] = views.slice(0, limit);
  return {
    items: await showChanges(reader, shown),
    sequences: shown.map(({ row }) => row.sequence),
    hasNextPage: views.length > limit || rest.from <= rest.to,
  };
}

async function requireSight(
  { db, access }: Reader,
  resource: Resource,
  id: string,
  changes: ChangeFilters & { from: number; to: number },
): Promise<void> {
  const { orgNumber } = access;
  const record = await findRecord(db, resource, { orgNumber, id });
  if (record !== undefined && canSee(access, resource, record)) return;
  if (record === undefined) {
    const newest = await listChanges(db, { ...changes, orgNumber, direction: 'desc', limit: 1 });
    const [row] = newest.rows;
    if (row !== undefined && sees(access, resource, row.owner && idOfBytes(row.owner))) return;
  }
  throw notFound(resource.singular);
}
