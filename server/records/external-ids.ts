// External IDs of a record: which ones it has, and whether it can get another.

import type { ExternalIdRow } from '../../db/engine/schema.ts';
import { EXTERNAL_IDS_MAX, type ExternalId, externalIdName } from '../../db/model/external-ids.ts';
import { instantText } from '../../db/model/instants.ts';
import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import {
  type Attachment,
  deleteExternalId,
  insertReservedExternalIds,
  listExternalIds,
  lookUpExternalIds,
  reserveExternalId,
  showExternalId,
} from '../../db/records/record-external-ids.ts';
import { findRecord } from '../../db/records/records.ts';
import type { Access } from '../access.ts';
import { ApiError, invalid } from '../errors.ts';
import { conflict } from './conflict.ts';
import { getRow, type ItemPage, type ListPosition, type PageRange } from './records.ts';
import type { Reader, Writer } from './rules.ts';

/** External IDs as far as a write needs to know them; what the write itself adds is noted here too. */
export interface KnownExternalIds {
  /** The ID of the record that has each, by `externalIdName`. */
  owners: Map<string, string>;
  /** The sources of each record's external IDs, by the record's ID; a record without external IDs can be missing. */
  sources: Map<string, Set<string>>;
  /** An owner's row, or its fields if the same request has created it. */
  ownerRow(id: string): Promise<OwnerRecord | undefined> | OwnerRecord | undefined;
}

type OwnerRecord = Parameters<typeof conflict>[2];

/** Where errors about the parts of an external ID are reported. */
export interface AttachPaths {
  source: string;
  id: string;
}

/**
 * Checks whether a record can get an external ID, and counts it against the quota.
 * @returns whether it must be written; false if the record has it
 * @throws ApiError 409 if another record has it, or this one has another of its source; 422 if this one has too many;
 * QuotaError
 */
export async function checkAttach(
  { db: trx, access }: Writer,
  resource: Resource,
  { recordId, externalId }: Attachment,
  { owners, sources, ownerRow }: KnownExternalIds,
  paths: AttachPaths,
): Promise<boolean> {
  const name = externalIdName(externalId);
  const ownerId = owners.get(name);
  if (ownerId === recordId) return false;
  const { singular } = resource;
  if (ownerId !== undefined) throw externalIdTaken(access, resource, await ownerRow(ownerId), paths.id);
  const held = sources.get(recordId) ?? new Set();
  if (held.has(externalId.source)) {
    const message = `this ${singular} has another external ID of this source; remove that one first`;
    throw conflict(access, resource, undefined, { path: paths.source, message });
  }
  if (held.size >= EXTERNAL_IDS_MAX) {
    const message = `this ${singular} has ${EXTERNAL_IDS_MAX} external IDs, which is the maximum; remove one first`;
    throw invalid(paths.source, message, 'VALIDATION_OUT_OF_RANGE');
  }
  await reserveExternalId(trx, access.orgNumber, externalId);
  owners.set(name, recordId);
  sources.set(recordId, held.add(externalId.source));
  return true;
}

/** The 409 for an external ID that another record has. */
export function externalIdTaken(
  access: Access,
  resource: Resource,
  owner: OwnerRecord | undefined,
  path: string,
): ApiError {
  const message = `another ${resource.singular} has this external ID`;
  return conflict(access, resource, owner, { path, message });
}

/** The external IDs of one record. */
export interface ExternalIdsOf {
  resource: Resource;
  recordId: string;
}

/**
 * The external IDs of a record, newest first.
 * @throws ApiError 404 if the record does not exist or the key cannot see it
 */
export async function listExternalIdsOf(
  reader: Reader,
  { resource, recordId }: ExternalIdsOf,
  { after, limit }: PageRange,
): Promise<ItemPage> {
  await getRow(reader, resource, recordId);
  const rows = await listExternalIds(reader.db, resource, reader.access.orgNumber, [recordId]);
  const rest = rows.map(placeOf).filter((place) => after === null || inOrder(after, place) < 0);
  const page = rest.sort(inOrder).slice(0, limit);
  return {
    items: page.map(({ row }) => showExternalId(row)),
    hasNextPage: rest.length > limit,
    placeAfter: (index) => ({ value: page[index]?.value ?? 0, id: page[index]?.id ?? '' }),
  };
}

function placeOf(row: ExternalIdRow): ListPosition & { row: ExternalIdRow } {
  return { value: row.created_at, id: row.source, row };
}

// Newest first; those of one request have the same time.
function inOrder(a: ListPosition, b: ListPosition): number {
  return b.value - a.value || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);
}

/**
 * Adds an external ID to a record; one that the record has stays as it is.
 * @returns the external ID as shown
 * @throws ApiError 404, and those of `checkAttach`
 */
export async function addExternalId(
  writer: Writer,
  { resource, recordId }: ExternalIdsOf,
  externalId: ExternalId,
): Promise<Data> {
  const { db: trx, access, now } = writer;
  const { orgNumber } = access;
  const [, rows] = await Promise.all([
    getRow(writer, resource, recordId),
    listExternalIds(trx, resource, orgNumber, [recordId]),
  ]);
  const owners = await lookUpExternalIds(trx, resource, orgNumber, [externalId]);
  const known: KnownExternalIds = {
    owners,
    sources: new Map([[recordId, new Set(rows.map(({ source }) => source))]]),
    ownerRow: (id) => findRecord(trx, resource, { orgNumber, id }),
  };
  const { source, id } = externalId;
  const attachment = { recordId, externalId };
  const isNew = await checkAttach(writer, resource, attachment, known, { source: 'source', id: 'id' });
  if (isNew) await insertReservedExternalIds(trx, resource, orgNumber, [attachment], now);
  const existing = rows.find((row) => row.source === source);
  return { source, id, created_at: instantText(existing?.created_at ?? now) };
}

/**
 * Removes the external ID that a record has of a source.
 * @throws ApiError 404 if the record does not exist, the key cannot see it, or it has none of that source
 */
export async function removeExternalId(
  writer: Writer,
  { resource, recordId }: ExternalIdsOf,
  source: string,
): Promise<void> {
  await getRow(writer, resource, recordId);
  const key = { orgNumber: writer.access.orgNumber, id: recordId };
  if (await deleteExternalId(writer.db, resource, key, source)) return;
  throw new ApiError('RESOURCE_NOT_FOUND', `This ${resource.singular} has no external ID of this source.`);
}
