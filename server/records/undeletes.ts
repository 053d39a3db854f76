// Undeletes, the same for every resource: what a deleted record needs is checked first, then it is restored.

import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { getResource } from '../../db/model/resources/registry.ts';
import { duplicateMessage, uniqueValues } from '../../db/model/rules.ts';
import { findRecord } from '../../db/records/records.ts';
import { findReferences } from '../../db/records/references.ts';
import { findDelete, restoreRecord } from '../../db/records/undeletion.ts';
import { findOwners, uniqueName } from '../../db/records/unique.ts';
import { recordAudit } from '../../db/tables/audit.ts';
import { canSee } from '../access.ts';
import { ApiError } from '../errors.ts';
import { actorOf } from '../request-origin.ts';
import { getKeptLog } from './change-feed.ts';
import { shownRecord } from './change-views.ts';
import { conflict, lostReference } from './conflict.ts';
import type { Remover } from './deletes.ts';
import { getRecord } from './records.ts';
import { rulesOf } from './registry.ts';
import type { Writer } from './rules.ts';

/**
 * Restores a deleted record, with its links and the references to it, and records that in the audit log.
 * @returns the record as shown
 * @throws ApiError 403, 404, 409, 422
 */
export async function undeleteRecord(remover: Remover, resource: Resource, id: string): Promise<Data> {
  const { db, access, origin, now } = remover;
  const { orgNumber } = access;
  await getKeptLog(remover);
  const logged = await findDelete(db, resource, { orgNumber, id });
  const record = logged === undefined ? null : shownRecord(resource, logged.values);
  if (logged === undefined || record === null || !canSee(access, resource, record)) {
    const message = `No deleted ${resource.singular} has this ID, or its changes are no longer kept.`;
    throw new ApiError('RESOURCE_NOT_FOUND', message);
  }
  await rejectTaken(remover, resource, record);
  await clearLostReferences(remover, resource, record);
  await rulesOf(resource).beforeUndelete?.(remover, record, logged);
  await restoreRecord(db, resource, logged, record, now);
  const target = { type: resource.name, id };
  const entry = { orgNumber, actor: actorOf(remover), action: 'record.undeleted', target } as const;
  await recordAudit(db, { ...entry, requestId: origin.requestId, now });
  return getRecord(remover, resource, id);
}

// Another record can have taken a unique value.
async function rejectTaken({ db, access }: Writer, resource: Resource, record: Data): Promise<void> {
  const { orgNumber } = access;
  const unique = uniqueValues(resource, record);
  const owners = await findOwners(db, resource, orgNumber, [{ unique }]);
  for (const value of unique) {
    const id = owners.get(uniqueName(value));
    if (id === undefined) continue;
    const owner = await findRecord(db, resource, { orgNumber, id });
    const message = duplicateMessage(resource, value);
    throw conflict(access, resource, owner, { path: value.path, message });
  }
}

// What was deleted since can be hidden from the key as well, so only existence counts.
async function clearLostReferences({ db, access }: Writer, resource: Resource, record: Data): Promise<void> {
  const { fields } = resource;
  const viewer = { orgNumber: access.orgNumber, sees: () => true };
  const found = await findReferences(db, fields, [{ input: record, current: null }], viewer);
  for (const [name, { references: target = '', nullable, column }] of Object.entries(fields)) {
    const id = record[name];
    if (target === '' || target === 'stages' || column === null || typeof id !== 'string') continue;
    if (found.get(target)?.has(id)) continue;
    if (!nullable)
      throw lostReference(name, `the ${getResource(target).singular} was deleted; undelete it first`);
    record[name] = null;
  }
}
