// Deletes records with everything that belongs to them, and clears references to them.

import { sql } from 'kysely';
import { memoize } from '../cache.ts';
import { logDeleted } from '../changes/changes.ts';
import { loadOrganizationState } from '../engine/organization-state.ts';
import { chargeQuota } from '../engine/quota.ts';
import { type RecordKey, type RecordRow, type RecordTrx, type Trx, tableOf } from '../engine/schema.ts';
import { lookup } from '../engine/statement.ts';
import { showRow } from '../model/record-forms.ts';
import { hasExternalIds, type Resource } from '../model/resource.ts';
import { uniqueValues } from '../model/rules.ts';
import { noteDeletedRecords } from '../search/notes.ts';
import { bytesOf } from '../tables/content-bytes.ts';
import { forgetRecords } from '../timeline/removal.ts';
import { releaseDependents } from './dependents.ts';
import { findKeptBeside } from './kept-beside.ts';
import { deleteExternalIds, externalIdBytesOf, listExternalIds } from './record-external-ids.ts';
import { findRecord } from './records.ts';
import { removeTies } from './ties.ts';

const removal = memoize((resource: Resource) =>
  lookup<never>((db, param, isGiven) =>
    db
      .deleteFrom(tableOf(resource))
      .where('org_id', '=', param('org'))
      .where(isGiven(sql.ref('id'))),
  ),
);

/** Deletes a record, if it exists, as `deleteRecords` does. */
export async function deleteRecord(
  trx: RecordTrx,
  resource: Resource,
  key: RecordKey,
  now: number,
): Promise<void> {
  const row = await findRecord(trx, resource, key);
  if (row !== undefined) await deleteRecords(trx, resource, { orgNumber: key.orgNumber, rows: [row] }, now);
}

/** Records of one resource as stored, each once. */
export interface StoredRecords {
  orgNumber: number;
  rows: readonly RecordRow[];
}

/**
 * Deletes records with the rows that belong to them or link to them; references to them become null.
 * @param now Unix milliseconds
 */
export async function deleteRecords(
  trx: RecordTrx,
  resource: Resource,
  { orgNumber, rows }: StoredRecords,
  now: number,
): Promise<void> {
  const ids = rows.map(({ id }) => id);
  // Sent before the lookups of what depends on them.
  const looking = Promise.all([
    findKeptBeside(trx, resource, orgNumber, ids),
    hasExternalIds(resource) ? listExternalIds(trx, resource, orgNumber, ids) : [],
  ]);
  looking.catch(() => undefined);
  await chargeQuota(trx, orgNumber, async () => {
    const [, externalIds] = await looking;
    const bytes = rows.reduce((sum, row) => sum + bytesOf(resource, row), externalIdBytesOf(externalIds));
    return { records: -rows.length, bytes: -bytes };
  });
  await removeHeld(trx, resource, { orgNumber, rows });
  await noteDeletedRecords(trx, resource, orgNumber, rows);
  const note = async (row: RecordRow, tied: Record<string, string>) => {
    const [beside, externalIds] = await looking;
    const own = externalIds.filter(({ record_id }) => record_id === row.id);
    const logged = own.map((one) => [one.source, one.external_id, one.created_at] as const);
    const context = { orgNumber, at: now };
    return logDeleted(trx, resource, context, {
      row,
      beside: beside.get(row.id) ?? {},
      external_ids: logged,
      ...(Object.keys(tied).length > 0 && { tied }),
    });
  };
  await releaseDependents(trx, resource, { orgNumber, rows, now }, note);
  if (hasExternalIds(resource)) await deleteExternalIds(trx, resource, orgNumber, ids);
  await removal(resource)(trx, orgNumber, ids);
  if (!(await canUndelete(trx, orgNumber))) await forgetRecords(trx, orgNumber, ids);
}

async function canUndelete(trx: RecordTrx, orgNumber: number): Promise<boolean> {
  return (
    trx.engine.progress.author.keepsValues && (await loadOrganizationState(trx, orgNumber)).changes.areKept
  );
}

// The rows with their unique values.
async function removeHeld(trx: Trx, resource: Resource, { orgNumber, rows }: StoredRecords): Promise<void> {
  for (const side of resource.sideTables) {
    if (side.holds === undefined) continue;
    const held = rows.flatMap((row) =>
      uniqueValues(resource, showRow(resource.fields, { ...row }))
        .filter(({ filter }) => filter === side.holds)
        .map(({ key }) => ({ parent_id: row.id, child_id: key })),
    );
    await removeTies(trx, side, orgNumber, held);
  }
}
