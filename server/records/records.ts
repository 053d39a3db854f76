// Records as they are read, the same for every resource: one, or a page of them; rules fill in what is computed.
import type { ColumnValue } from '../../db/declare/fields.ts';
import { showRow } from '../../db/declare/forms.ts';
import type { Data } from '../../db/declare/json.ts';
import type { Resource } from '../../db/declare/resource.ts';
import { andThen, type Eventually } from '../../db/engine.ts';
import type { RecordRow } from '../../db/schema.ts';
import { type Direction, listRecords } from '../../db/tables/query.ts';
import { findRecord } from '../../db/tables/records.ts';
import { canSee, ownerFilter } from '../access.ts';
import { notFound } from '../errors.ts';
import { findVisible } from './references.ts';
import { rulesOf } from './registry.ts';
import type { Reader } from './rules.ts';

/**
 * The record of that id.
 * @throws ApiError 404 if it is absent or not the key's to see
 */
export function getRecord(reader: Reader, resource: Resource, id: string): Eventually<Data> {
  return andThen(getRow(reader, resource, id), (row) => present(reader, resource, row));
}

/** The row of that id, which must exist and be visible to the key. */
export function getRow(reader: Reader, resource: Resource, id: string): Eventually<RecordRow> {
  const found = findRecord(reader.db, resource, { orgId: reader.access.orgId, id });
  return andThen(found, (row) => {
    if (row === undefined || !canSee(reader.access, resource, row)) throw notFound(resource.singular);
    return row;
  });
}

export interface PageRequest {
  filters: Readonly<Record<string, ColumnValue>>;
  createdSince: number | null;
  updatedSince: number | null;
  sortBy: 'created_at' | 'updated_at';
  direction: Direction;
  after: { value: number; id: string } | null;
  limit: number;
}

export interface RecordPage {
  records: Data[];
  /** Where the next page begins; null for an empty page. */
  end: { value: number; id: string } | null;
  hasNextPage: boolean;
}

/** One page of records that the key sees. */
export async function listPage(
  reader: Reader,
  resource: Resource,
  request: PageRequest,
): Promise<RecordPage> {
  const { db, access } = reader;
  if (await namesHiddenRecord(reader, resource, request))
    return { records: [], end: null, hasNextPage: false };
  const query = {
    ...request,
    orgId: access.orgId,
    ownerId: ownerFilter(access, resource),
    limit: request.limit + 1,
  };
  const rows = await listRecords(db, resource, query);
  const hasNextPage = rows.length > request.limit;
  if (hasNextPage) rows.pop();
  const last = rows.at(-1);
  const end = last === undefined ? null : { value: last[request.sortBy], id: last.id };
  return { records: await presentAll(reader, resource, rows), end, hasNextPage };
}

/** Makes a row, itself, the record that responses carry. */
export function present(reader: Reader, resource: Resource, row: RecordRow): Eventually<Data> {
  const record = showRow(resource.fields, row);
  return andThen(complete(reader, resource, [record]), () => record);
}

/** Makes rows, themselves, the records that responses carry. */
export function presentAll(
  reader: Reader,
  resource: Resource,
  rows: readonly RecordRow[],
): Eventually<Data[]> {
  return complete(
    reader,
    resource,
    rows.map((row) => showRow(resource.fields, row)),
  );
}

/** Fills in what is computed of records, themselves, and gives them. */
export function complete(reader: Reader, resource: Resource, records: Data[]): Eventually<Data[]> {
  const { present: fillIn } = rulesOf(resource);
  if (fillIn === undefined || records.length === 0) return records;
  return andThen(fillIn(reader, records), () => records);
}

// A filter by a record that the key cannot see finds nothing, as if the record did not exist.
async function namesHiddenRecord(reader: Reader, resource: Resource, request: PageRequest): Promise<boolean> {
  if (reader.access.userId === null) return false;
  for (const [name, value] of Object.entries(request.filters)) {
    const targets = (resource.filters[name]?.references ?? []).filter(
      (target) => target !== 'users' && target !== 'stages',
    );
    if (targets.length === 0) continue;
    const found = await Promise.all(
      targets.map((target) => findVisible(reader.db, reader.access, target, String(value))),
    );
    if (found.every((row) => row === undefined)) return true;
  }
  return false;
}
