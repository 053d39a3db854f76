// Reads records, the same for every resource: one, or a page; rules fill in computed fields.

import { andThen, type Eventually } from '../../db/engine/engine.ts';
import type { RecordRow } from '../../db/engine/schema.ts';
import { TimeSlices } from '../../db/event-loop.ts';
import { parseExternalIdName } from '../../db/model/external-ids.ts';
import type { ColumnValue } from '../../db/model/fields.ts';
import type { Data } from '../../db/model/json.ts';
import { showRow } from '../../db/model/record-forms.ts';
import type { Resource } from '../../db/model/resource.ts';
import { listRecords } from '../../db/records/query.ts';
import { findExternalIdOwner } from '../../db/records/record-external-ids.ts';
import { findRecord, findRecords } from '../../db/records/records.ts';
import type { Direction } from '../../db/tables/list-query.ts';
import { canSee, ownerFilter } from '../access.ts';
import { notFound } from '../errors.ts';
import { findVisible } from './references.ts';
import { rulesOf } from './registry.ts';
import type { FillIn, Reader } from './rules.ts';

/**
 * The record with that ID.
 * @throws ApiError 404 if it does not exist or the key cannot see it
 */
export function getRecord(reader: Reader, resource: Resource, id: string): Eventually<Data> {
  const computed = findComputed(reader, resource, [id]);
  return andThen(getRow(reader, resource, id), (row) => present(reader, resource, row, computed));
}

/** The records with these IDs that exist and that the key can see, by ID. */
export async function getRecords(
  reader: Reader,
  resource: Resource,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Data>> {
  const { db, access } = reader;
  const wanted = [...new Set(ids)];
  const turns = new TimeSlices();
  const computed = findComputed(reader, resource, wanted);
  const rows = await findRecords(db, resource, access.orgNumber, wanted);
  const visible = rows.filter((row) => canSee(access, resource, row));
  // They can contain 30 MB: to read so much takes as long as a turn may, and so does what follows.
  if (turns.isOver) await turns.next();
  const records = await presentAll(reader, resource, visible, computed);
  return new Map(records.map((record) => [String(record.id), record]));
}

/** The row with that ID, which must exist and be visible to the key. */
export function getRow(reader: Reader, resource: Resource, id: string): Eventually<RecordRow> {
  const found = findRecord(reader.db, resource, { orgNumber: reader.access.orgNumber, id });
  return andThen(found, (row) => {
    if (row === undefined || !canSee(reader.access, resource, row)) throw notFound(resource.singular);
    return row;
  });
}

/** A position in a list: the sort value and the ID of the record before it. */
export interface ListPosition {
  value: number;
  id: string;
}

/** Where a page begins, and how many items it has at most. */
export interface PageRange {
  /** The position of the item before it; null for the first page. */
  after: ListPosition | null;
  limit: number;
}

/** A page of links or external IDs. */
export interface ItemPage {
  items: Data[];
  hasNextPage: boolean;
  /** The position after the item with that index. */
  placeAfter: (index: number) => ListPosition;
}

export interface PageRequest extends PageRange {
  filters: Readonly<Record<string, ColumnValue>>;
  createdSince: number | null;
  updatedSince: number | null;
  sortBy: 'created_at' | 'updated_at';
  direction: Direction;
  /** Fields that the response does not show. */
  unseen?: readonly string[];
}

export interface RecordPage {
  records: Data[];
  hasNextPage: boolean;
}

const NOTHING: RecordPage = { records: [], hasNextPage: false };

/** One page of records that the key can see. */
export async function listPage(
  reader: Reader,
  resource: Resource,
  request: PageRequest,
): Promise<RecordPage> {
  const { db, access } = reader;
  if (await namesHiddenRecord(reader, resource, request)) return NOTHING;
  const filters = await byOwnId(reader, resource, request.filters);
  if (filters === undefined) return NOTHING;
  const query = {
    ...request,
    filters,
    orgNumber: access.orgNumber,
    ownerId: ownerFilter(access, resource),
    limit: request.limit + 1,
  };
  const { rows, isCut } = await listRecords(db, resource, query);
  const isFull = rows.length > request.limit;
  if (isFull) rows.pop();
  return { records: await presentAll(reader, resource, rows), hasNextPage: isCut || isFull };
}

/** The position in a list after a record: its sort value and its ID. */
export function placeAfter(record: Data | undefined, sortBy: PageRequest['sortBy']): ListPosition {
  return { value: Date.parse(String(record?.[sortBy])), id: String(record?.id) };
}

/** What was looked up for computed fields; null if there are none. */
type Computed = Promise<FillIn> | null;

// Sent before the records are read, as each of these statements can be a way to a server and back.
function findComputed(reader: Reader, resource: Resource, ids: readonly string[]): Computed {
  const computed = rulesOf(resource).findComputed?.(reader, ids) ?? null;
  // Nobody waits for it if no record is there.
  computed?.catch(() => undefined);
  return computed;
}

function present(reader: Reader, resource: Resource, row: RecordRow, computed: Computed): Eventually<Data> {
  const record = showRow(resource.fields, row);
  return andThen(fillIn(reader, resource, [record], computed), () => record);
}

/** Turns rows, in place, into the records of a response. */
export function presentAll(
  reader: Reader,
  resource: Resource,
  rows: readonly RecordRow[],
  computed = computedOf(reader, resource, rows),
): Eventually<Data[]> {
  const records = rows.map((row) => showRow(resource.fields, row));
  return fillIn(reader, resource, records, computed);
}

/** Fills in the computed fields of records, in place, and returns them. */
export function fillComputedFields(reader: Reader, resource: Resource, records: Data[]): Eventually<Data[]> {
  return fillIn(reader, resource, records, computedOf(reader, resource, records));
}

function computedOf(reader: Reader, resource: Resource, records: readonly { id?: unknown }[]): Computed {
  if (records.length === 0) return null;
  return findComputed(
    reader,
    resource,
    records.map(({ id }) => String(id)),
  );
}

function fillIn(reader: Reader, resource: Resource, records: Data[], computed: Computed): Eventually<Data[]> {
  const { present: complete } = rulesOf(resource);
  if (computed === null && complete === undefined) return records;
  const filled = computed?.then((fill) => records.forEach(fill));
  const completed = andThen(filled, () => (records.length === 0 ? undefined : complete?.(reader, records)));
  return andThen(completed, () => records);
}

// The filters with the ID of the record instead of its external ID; undefined if no record has that.
async function byOwnId(
  { db, access }: Reader,
  resource: Resource,
  filters: PageRequest['filters'],
): Promise<PageRequest['filters'] | undefined> {
  const external = Object.keys(filters).find((name) => resource.filters[name]?.type === 'external ID');
  if (external === undefined) return filters;
  const externalId = parseExternalIdName(String(filters[external]));
  const id = externalId && (await findExternalIdOwner(db, resource, access.orgNumber, externalId));
  return id === undefined ? undefined : { ...filters, [external]: id };
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
