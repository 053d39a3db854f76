// The 409 for a value that only one record can have.
import type { Eventually } from '../../db/engine/engine.ts';
import type { Data } from '../../db/model/json.ts';
import type { Resource, Row } from '../../db/model/resource.ts';
import { duplicateMessage, type UniqueValue } from '../../db/model/rules.ts';
import { uniqueName } from '../../db/records/unique.ts';
import { type Access, canSee, mayRead } from '../access.ts';
import { ApiError, type Detail } from '../errors.ts';
import type { KnownRecords } from './lookups.ts';
import type { Change } from './rules.ts';

/**
 * Rejects a change that uses a unique value of another record.
 * @throws ApiError 409, which identifies the other record if the key can read it
 */
export function rejectDuplicate(change: Change, known: KnownRecords): Eventually<void> {
  const { id, unique } = change;
  for (const value of unique) {
    const ownerId = known.owners.get(uniqueName(value));
    if (ownerId !== undefined && ownerId !== id) return rejectAs(change, known, value, ownerId);
  }
}

async function rejectAs(
  { access, resource }: Change,
  { accepted, ownerRow }: KnownRecords,
  value: UniqueValue,
  ownerId: string,
): Promise<never> {
  const owner = accepted.get(ownerId) ?? (await ownerRow(ownerId));
  const message = duplicateMessage(resource, value);
  throw conflict(access, resource, owner, { path: value.path, message });
}

/** The 409 for a value that another record has; it identifies that record, if given, to a key that can read it. */
export function conflict(
  access: Access,
  resource: Resource,
  owner: Row | Data | undefined,
  { path, message }: Pick<Detail, 'path' | 'message'>,
): ApiError {
  const isKnown = owner !== undefined && mayRead(access, resource) && canSee(access, resource, owner);
  const existing = isKnown ? String(owner.id) : null;
  return new ApiError('RESOURCE_CONFLICT', `${path}: ${message}`, {
    details: [
      { path, message, code: 'RESOURCE_CONFLICT', ...(existing !== null && { existing_id: existing }) },
    ],
    location: existing === null ? null : `/api/v2/${resource.name}/${existing}`,
  });
}

/** The 409 for a deleted record that cannot do without something which no longer exists. */
export function lostReference(path: string, message: string): ApiError {
  return new ApiError('RESOURCE_CONFLICT', `${path}: ${message}`, {
    details: [{ path, message, code: 'RESOURCE_CONFLICT' }],
  });
}
