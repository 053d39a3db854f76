// Deletes, the same for every resource: all checks come first, then what they leave is deleted together.

import type { Resource } from '../../db/model/resource.ts';
import { deleteRecords } from '../../db/records/deletion.ts';
import { findRecords } from '../../db/records/records.ts';
import { type AuditEntry, recordAuditOf } from '../../db/tables/audit.ts';
import { canSee } from '../access.ts';
import { ApiError, notFound } from '../errors.ts';
import { actorOf, type RequestOrigin } from '../request-origin.ts';
import type { ItemOutcome } from './outcomes.ts';
import { rulesOf } from './registry.ts';
import type { Writer } from './rules.ts';

/** Who deletes, and from where. */
export type Remover = Writer & { origin: RequestOrigin };

/**
 * Deletes a record as `removeRecords` does.
 * @throws ApiError 404, 409
 */
export async function removeRecord(remover: Remover, resource: Resource, id: string): Promise<void> {
  const [outcome] = await removeRecords(remover, resource, [id]);
  if (outcome instanceof ApiError) throw outcome;
}

/**
 * Deletes records and their links, clears references to them, and records each delete in the audit log. Those that cannot
 * be deleted do not affect the others; an ID that is given twice is absent the second time.
 */
export async function removeRecords(
  remover: Remover,
  resource: Resource,
  ids: readonly string[],
): Promise<ItemOutcome[]> {
  const { db, access, now } = remover;
  const { orgNumber } = access;
  const rows = await findRecords(db, resource, orgNumber, [...new Set(ids)]);
  const left = new Map(rows.filter((row) => canSee(access, resource, row)).map((row) => [row.id, row]));
  const refusals = await rulesOf(resource).refuseDeletes?.(remover, [...left.keys()]);
  const deleted: typeof rows = [];
  const outcomes = ids.map((id): ItemOutcome => {
    const row = left.get(id);
    if (row === undefined) return notFound(resource.singular);
    const refusal = refusals?.get(id);
    if (refusal !== undefined) return refusal;
    left.delete(id);
    deleted.push(row);
    return { status: 'deleted' };
  });
  if (deleted.length === 0) return outcomes;
  await deleteRecords(db, resource, { orgNumber, rows: deleted }, now);
  await recordAuditOf(
    db,
    deleted.map(({ id }) => entryOf(remover, { type: resource.name, id })),
  );
  return outcomes;
}

function entryOf(remover: Remover, target: AuditEntry['target']): AuditEntry {
  const { access, origin, now } = remover;
  return {
    ...{ orgNumber: access.orgNumber, actor: actorOf(remover), action: 'record.deleted', target },
    ...{ requestId: origin.requestId, now },
  };
}
