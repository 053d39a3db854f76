// The 409 for a value that only one record can have.
import { duplicateMessage } from '../../db/model/rules.ts';
import { uniqueName } from '../../db/tables/unique.ts';
import { canSee, mayRead } from '../access.ts';
import { ApiError } from '../errors.ts';
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
    const isKnown = owner !== undefined && mayRead(access, resource) && canSee(access, resource, owner);
    const { path } = unique;
    const message = duplicateMessage(resource, unique);
    throw new ApiError('RESOURCE_CONFLICT', `${path}: ${message}`, {
      details: [{ path, message, code: 'RESOURCE_CONFLICT', ...(isKnown && { existing_id: ownerId }) }],
      ...(isKnown && { location: `/api/v2/${resource.name}/${ownerId}` }),
    });
  }
}
