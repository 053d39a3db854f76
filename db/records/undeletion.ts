// Restores deleted records from the log of changes: with what belonged to them, and what depended on them.

import { memoize } from '../cache.ts';
import {
  CHANGE_ACTIONS,
  CHANGE_RESOURCES,
  type ChangeAction,
  type DeletedValues,
} from '../changes/changes.ts';
import { unpackIds } from '../changes/packed-ids.ts';
import { type ChangeFilters, listChanges } from '../changes/queries.ts';
import { bulkInsert } from '../engine/bulk-insert.ts';
import { saveChanges } from '../engine/change-log.ts';
import type { ChangeRow } from '../engine/change-row.ts';
import { loadOrganizationState } from '../engine/organization-state.ts';
import type { RecordKey, RecordRow, RecordTrx, Trx } from '../engine/schema.ts';
import { inParts } from '../event-loop.ts';
import { type ExternalId, externalIdName } from '../model/external-ids.ts';
import type { Data } from '../model/json.ts';
import { storedRow } from '../model/record-forms.ts';
import type { Resource, SideTable } from '../model/resource.ts';
import { RESOURCES } from '../model/resources/registry.ts';
import { uniqueValues } from '../model/rules.ts';
import { textBytes } from '../tables/id-bytes.ts';
import { restoreKeptBeside } from './kept-beside.ts';
import { findLinkEnds } from './link-batches.ts';
import { insertReservedExternalIds, lookUpExternalIds, reserveExternalId } from './record-external-ids.ts';
import { findRecord, reserveQuota, restoreReservedRecord } from './records.ts';
import { restoreDependents } from './restored-dependents.ts';

/** The delete of a record that does not exist any more, as the log has it. */
export interface LoggedDelete {
  orgNumber: number;
  id: string;
  sequence: number;
  values: DeletedValues;
}

/** The last delete of a record; undefined if it exists, or the log does not contain its values. */
export async function findDelete(
  trx: Trx,
  resource: Resource,
  { orgNumber, id }: RecordKey,
): Promise<LoggedDelete | undefined> {
  if ((await findRecord(trx, resource, { orgNumber, id })) !== undefined) return undefined;
  await saveChanges(trx);
  // Another request of the same transaction deletes it, which is not in the log yet: as if that came later.
  const isDeletedNow = trx.engine.progress.changes.has(
    (change) =>
      change.action === CHANGE_ACTIONS.indexOf('deleted') &&
      change.resource === CHANGE_RESOURCES.indexOf(resource.name) &&
      Buffer.compare(change.record, textBytes(id)) === 0,
  );
  if (isDeletedNow) return undefined;
  const row = await findLastDelete(trx, resource, { orgNumber, id });
  if (row === undefined || row.data === null) return undefined;
  const values = JSON.parse(row.data) as Partial<DeletedValues>;
  if (values.record === undefined) return undefined;
  return { orgNumber, id, sequence: row.sequence, values: values as DeletedValues };
}

// Looked through first: the last change of a record that was deleted a moment ago is mostly among them.
const CHANGES_NEAR = 8_192;

async function findLastDelete(
  trx: Trx,
  resource: Resource,
  { orgNumber, id: recordId }: RecordKey,
): Promise<ChangeRow | undefined> {
  const { first, last } = (await loadOrganizationState(trx, orgNumber)).changes;
  const filters = { resources: [resource.name], recordId, request: null };
  const one = { ...filters, orgNumber, direction: 'desc', limit: 1 } as const;
  const find = async (action: ChangeAction | null, from: number, to: number) =>
    (await listChanges(trx, { ...one, action, from, to })).rows[0];
  // The delete of a record with many links is followed by as many changes of it, which name it as their cause.
  const near = await find(null, Math.max(first, last - CHANGES_NEAR), last);
  const place = near?.cause ?? near?.sequence ?? 0;
  const found = place < first ? undefined : await find('deleted', place, place);
  return found ?? find('deleted', first, last);
}

/** Whether the delete of a record cleared a reference to it in that other record. */
export async function hasCleared(
  trx: Trx,
  { orgNumber, sequence: from }: LoggedDelete,
  resource: Resource,
  recordId: string,
): Promise<boolean> {
  const { last } = (await loadOrganizationState(trx, orgNumber)).changes;
  const filters: ChangeFilters = { resources: [resource.name], recordId, action: 'updated', request: null };
  const range = { from, to: last, direction: 'asc', limit: 1 } as const;
  const [row] = (await listChanges(trx, { ...filters, ...range, orgNumber })).rows;
  return row?.cause === from;
}

/**
 * Restores a deleted record with the external IDs that are still free, its links whose other end exists, and the references to
 * it that are still null.
 * @param record as it will be shown
 * @param now Unix milliseconds
 * @throws QuotaError
 */
export async function restoreRecord(
  trx: RecordTrx,
  resource: Resource,
  logged: LoggedDelete,
  record: Data,
  now: number,
): Promise<void> {
  const { orgNumber, id } = logged;
  const row = storedRow(resource.fields, record, { org_id: orgNumber, id, updated_at: now }) as RecordRow;
  await reserveQuota(trx, orgNumber, [{ resource, data: row }]);
  const externalIds = await freeExternalIds(trx, resource, logged);
  for (const { externalId } of externalIds) await reserveExternalId(trx, orgNumber, externalId);
  const cause = await restoreReservedRecord(trx, resource, { orgNumber, now }, row);
  await restoreHeld(trx, resource, orgNumber, { ...record, id });
  await restoreKeptBeside(trx, resource, orgNumber, record);
  await insertReservedExternalIds(trx, resource, orgNumber, externalIds, now);
  await restoreTied(trx, resource, logged);
  await restoreDependents(trx, resource, { ...logged, row, cause, now });
}

async function freeExternalIds(trx: Trx, resource: Resource, { orgNumber, id, values }: LoggedDelete) {
  const logged = values.external_ids.map(([source, external, createdAt]) => {
    const externalId: ExternalId = { source, id: external };
    return { recordId: id, externalId, createdAt };
  });
  if (logged.length === 0) return logged;
  const wanted = logged.map(({ externalId }) => externalId);
  const owners = await lookUpExternalIds(trx, resource, orgNumber, wanted);
  return logged.filter(({ externalId }) => !owners.has(externalIdName(externalId)));
}

const insertionOf = memoize(({ table, parentColumn, childColumn }: SideTable) =>
  bulkInsert(table, ['org_id', parentColumn, childColumn]),
);

// The rows with its unique values.
async function restoreHeld(trx: Trx, resource: Resource, orgNumber: number, record: Data): Promise<void> {
  for (const side of resource.sideTables) {
    if (side.holds === undefined) continue;
    const held = uniqueValues(resource, record).filter(({ filter }) => filter === side.holds);
    const ends = { org_id: orgNumber, [side.parentColumn]: String(record.id) };
    await insertionOf(side)(
      trx,
      held.map(({ key }) => ({ ...ends, [side.childColumn]: key })),
    );
  }
}

// The rows that tie other records to it.
async function restoreTied(
  trx: Trx,
  resource: Resource,
  { orgNumber, id, values: { tied = {} } }: LoggedDelete,
): Promise<void> {
  for (const parent of RESOURCES)
    for (const side of parent.sideTables) {
      if (!Object.values(side.children).includes(resource.name)) continue;
      await inParts(unpackIds(tied[side.table] ?? ''), async (parents) => {
        const ends = await findLinkEnds(trx, parent, orgNumber, parents);
        const child = { org_id: orgNumber, [side.childColumn]: id };
        await insertionOf(side)(
          trx,
          ends.map((end) => ({ ...child, [side.parentColumn]: end.id })),
        );
      });
    }
}
