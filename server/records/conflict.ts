// The 409 for a value that only one record can have.
import type { Data } from '../../db/model/json.ts';
import type { Resource, Row } from '../../db/model/resource.ts';
import { duplicateMessage } from '../../db/model/rules.ts';
import { uniqueName } from '../../db/tables/unique.ts';
import { type Access, canSee, mayRead } from '../access.ts';
import { ApiError, type Detail } from '../errors.ts';
import type { KnownRecords } from './lookups.ts';
import type { Change } from './rules.ts';

/**
 * Rejects a change that uses a unique value of another record.
 * @throws ApiError 409, which identifies the other record if the key can read it
 */
export async function rejectDuplicate(
  change: Change,
  { owners, accepted, ownerRow }: KnownRecords,
): Promise<void> {
  const { access, resource, id } = change;
  for (const unique of change.unique) {
    const ownerId = owners.get(uniqueName(unique));
    if (ownerId === undefined || ownerId === id) continue;
    const owner = accepted.get(ownerId) ?? (await ownerRow(ownerId));
    const { path } = unique;
    throw conflict(access, resource, owner, { path, message: duplicateMessage(resource, unique) });
  }
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
