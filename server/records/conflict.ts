// The 409 for a value that only one record can have.
import { duplicateMessage } from '../../db/model/rules.ts';
import { uniqueName } from '../../db/tables/unique.ts';
import { canSee, mayRead } from '../access.ts';
import { ApiError } from '../errors.ts';
import type { KnownRecords } from './lookups.ts';
import type { Change } from './rules.ts';

/** A conflict with an existing record, which the response identifies if the key can read it. */
export class ConflictError extends ApiError {
  /** The conflicting field, dotted. */
  readonly path: string;

  /** @param existing resource (plural) and ID of the conflicting record, if the key can read it */
  constructor(fault: { path: string; message: string }, existing: { resource: string; id: string } | null) {
    const { path, message } = fault;
    const known = existing !== null && { existing_id: existing.id };
    super('RESOURCE_CONFLICT', `${path}: ${message}`, {
      details: [{ path, message, code: 'RESOURCE_CONFLICT', ...known }],
      ...(existing !== null && { location: `/api/v2/${existing.resource}/${existing.id}` }),
    });
    this.name = 'ConflictError';
    this.path = path;
  }
}

/**
 * Rejects a change that uses a unique value of another record.
 * @throws ConflictError 409
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
    const fault = { path: unique.path, message: duplicateMessage(resource, unique) };
    throw new ConflictError(fault, isKnown ? { resource: resource.name, id: ownerId } : null);
  }
}
