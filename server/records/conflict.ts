// The 409 for something that only one record may have.
import { takenMessage } from '../../db/model/rules.ts';
import { uniqueName } from '../../db/tables/unique.ts';
import { canSee, mayRead } from '../access.ts';
import { ApiError } from '../errors.ts';
import type { Known } from './lookups.ts';
import type { Change } from './rules.ts';

/** A conflict with an existing record, which the answer points to where the key may read it. */
export class ConflictError extends ApiError {
  /** The field that conflicts, dotted. */
  readonly path: string;

  /** @param existing the record that is in the way, if the key may know of it: its resource (plural) and id */
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
 * Refuses a change with a unique value that another record has.
 * @throws ConflictError 409
 */
export async function refuseTaken(change: Change, { owners, accepted, ownerRow }: Known): Promise<void> {
  const { access, resource, id } = change;
  for (const unique of change.unique) {
    const ownerId = owners.get(uniqueName(unique));
    if (ownerId === undefined || ownerId === id) continue;
    const owner = accepted.get(ownerId) ?? (await ownerRow(ownerId));
    const isKnown = owner !== undefined && mayRead(access, resource) && canSee(access, resource, owner);
    const fault = { path: unique.path, message: takenMessage(resource, unique) };
    throw new ConflictError(fault, isKnown ? { resource: resource.name, id: ownerId } : null);
  }
}
