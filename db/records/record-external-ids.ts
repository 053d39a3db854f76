// The external IDs of records: whose they are, and which ones a record has.

import { sql } from 'kysely';
import { memoize } from '../cache.ts';
import { bulkInsert } from '../engine/bulk-insert.ts';
import type { Eventually } from '../engine/engine.ts';
import { chargeQuota } from '../engine/quota.ts';
import { type Db, type ExternalIdRow, type RecordKey, type Trx, tableOf } from '../engine/schema.ts';
import { lookup, type Param, statement } from '../engine/statement.ts';
import { type ExternalId, externalIdName } from '../model/external-ids.ts';
import { instantText } from '../model/instants.ts';
import type { Data } from '../model/json.ts';
import type { Resource } from '../model/resource.ts';
import { bytesIn } from '../tables/content-bytes.ts';

/** The owner of an external ID; its record is null if an older crm on the same database has deleted that. */
interface Owner {
  source: string;
  id: string;
  record_id: string | null;
}

const owned = (resource: Resource, db: Db, param: Param) =>
  db
    .selectFrom('external_ids as held')
    .leftJoin(`${tableOf(resource)} as record`, (join) =>
      join.onRef('record.org_id', '=', 'held.org_id').onRef('record.id', '=', sql.ref('held.record_id')),
    )
    .select(['held.source', 'held.external_id as id', 'record.id as record_id'])
    .where('held.org_id', '=', param('org'))
    .where('held.resource', '=', resource.name)
    .where('held.source', '=', param('source'));

const ownersOf = memoize((resource: Resource) => ({
  one: statement<Owner>((db, param) =>
    owned(resource, db, param).where('held.external_id', '=', param('id')),
  ),
  several: statement<Owner>((db, param) =>
    owned(resource, db, param).where(db.engine.isAmong(sql.ref('held.external_id'), param('ids'))),
  ),
}));

// One statement for each source, of which there is nearly always only one.
async function findOwners(
  db: Db,
  resource: Resource,
  org: number,
  wanted: readonly ExternalId[],
): Promise<Owner[]> {
  const { one, several } = ownersOf(resource);
  const bySource = [...Map.groupBy(wanted, ({ source }) => source)];
  const found = await Promise.all(
    bySource.map(([source, [first, ...more]]) => {
      if (first === undefined) return [];
      if (more.length === 0) return one(db, { org, source, id: first.id });
      return several(db, { org, source, ids: JSON.stringify([first, ...more].map(({ id }) => id)) });
    }),
  );
  return found.flat();
}

/** The ID of the record with an external ID. */
export async function findExternalIdOwner(
  db: Db,
  resource: Resource,
  orgNumber: number,
  externalId: ExternalId,
): Promise<string | undefined> {
  const [owner] = await findOwners(db, resource, orgNumber, [externalId]);
  return owner?.record_id ?? undefined;
}

/**
 * The IDs of the records with these external IDs, by `externalIdName`, for a write: an external ID whose record an older
 * crm has deleted becomes free.
 */
export async function lookUpExternalIds(
  trx: Trx,
  resource: Resource,
  orgNumber: number,
  wanted: readonly ExternalId[],
): Promise<Map<string, string>> {
  const owners = new Map<string, string>();
  for (const { record_id, ...externalId } of await findOwners(trx, resource, orgNumber, wanted)) {
    if (record_id !== null) owners.set(externalIdName(externalId), record_id);
    else await free(trx, resource, orgNumber, externalId);
  }
  return owners;
}

const freeing = statement<ExternalId>((db, param) =>
  db
    .deleteFrom('external_ids')
    .where('org_id', '=', param('org'))
    .where('resource', '=', param('resource'))
    .where('source', '=', param('source'))
    .where('external_id', '=', param('id'))
    .returning(['source', 'external_id as id']),
);

async function free(
  trx: Trx,
  { name: resource }: Resource,
  org: number,
  externalId: ExternalId,
): Promise<void> {
  await uncharge(trx, org, await freeing(trx, { org, resource, ...externalId }));
}

const held = memoize(({ name }: Resource) =>
  lookup<ExternalIdRow>((db, param, isGiven) =>
    db
      .selectFrom('external_ids')
      .selectAll()
      .where('org_id', '=', param('org'))
      .where('resource', '=', name)
      .where(isGiven(sql.ref('record_id'))),
  ),
);

/** The external IDs of records, in no order. */
export async function listExternalIds(
  db: Db,
  resource: Resource,
  orgNumber: number,
  recordIds: readonly string[],
): Promise<ExternalIdRow[]> {
  return held(resource)(db, orgNumber, recordIds);
}

/** An external ID as a response shows it. */
export function showExternalId({ source, external_id: id, created_at }: ExternalIdRow): Data {
  return { source, id, created_at: instantText(created_at) };
}

/** The size of external IDs, in bytes. */
export function externalIdBytesOf(rows: readonly ExternalIdRow[]): number {
  return rows.reduce((sum, { source, external_id }) => sum + bytesOf({ source, id: external_id }), 0);
}

function bytesOf({ source, id }: ExternalId): number {
  return bytesIn(source) + bytesIn(id);
}

/**
 * Counts an external ID that will be inserted; call it before inserting.
 * @throws QuotaError if the organization cannot hold it as well
 */
export function reserveExternalId(trx: Trx, orgNumber: number, externalId: ExternalId): Eventually<void> {
  return chargeQuota(trx, orgNumber, () => ({ records: 0, bytes: bytesOf(externalId) }));
}

function uncharge(trx: Trx, orgNumber: number, removed: readonly ExternalId[]): Eventually<void> {
  return chargeQuota(trx, orgNumber, () => ({
    records: 0,
    bytes: -removed.reduce((sum, externalId) => sum + bytesOf(externalId), 0),
  }));
}

/** An external ID that a record gets. */
export interface Attachment {
  recordId: string;
  externalId: ExternalId;
  /** When it first got it, in Unix milliseconds; by default now. */
  createdAt?: number;
}

const insert = bulkInsert('external_ids', [
  'org_id',
  'resource',
  'source',
  'external_id',
  'record_id',
  'created_at',
]);

/**
 * Inserts external IDs that were counted.
 * @param now Unix milliseconds
 */
export function insertReservedExternalIds(
  trx: Trx,
  { name: resource }: Resource,
  orgNumber: number,
  attachments: readonly Attachment[],
  now: number,
): Eventually<void> {
  const rows = attachments.map(({ recordId, externalId: { source, id }, createdAt = now }) => ({
    ...{ org_id: orgNumber, resource, source, external_id: id, record_id: recordId, created_at: createdAt },
  }));
  return insert(trx, rows);
}

const removal = statement<ExternalId>((db, param) =>
  db
    .deleteFrom('external_ids')
    .where('org_id', '=', param('org'))
    .where('resource', '=', param('resource'))
    .where('record_id', '=', param('record'))
    .where('source', '=', param('source'))
    .returning(['source', 'external_id as id']),
);

const removalOfAll = memoize(({ name }: Resource) =>
  lookup<never>((db, param, isGiven) =>
    db
      .deleteFrom('external_ids')
      .where('org_id', '=', param('org'))
      .where('resource', '=', name)
      .where(isGiven(sql.ref('record_id'))),
  ),
);

/** Removes the external IDs of records that are deleted, and counted with them. */
export async function deleteExternalIds(
  trx: Trx,
  resource: Resource,
  orgNumber: number,
  recordIds: readonly string[],
): Promise<void> {
  await removalOfAll(resource)(trx, orgNumber, recordIds);
}

/** Removes a record's external ID of a source; false if it has none. */
export async function deleteExternalId(
  trx: Trx,
  { name: resource }: Resource,
  { orgNumber, id: record }: RecordKey,
  source: string,
): Promise<boolean> {
  const removed = await removal(trx, { org: orgNumber, resource, record, source });
  await uncharge(trx, orgNumber, removed);
  return removed.length > 0;
}
