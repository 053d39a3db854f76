// The 409 for something that only one record may have.
import { takenMessage, uniqueValues } from '../../db/declare/rules.ts';
import { findUnique } from '../../db/tables/unique.ts';
import { mayRead } from '../access.ts';
import { ApiError } from '../errors.ts';
import { findVisible } from './references.ts';
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
export async function refuseTaken({ trx, access, resource, id, input }: Change): Promise<void> {
  for (const unique of uniqueValues(resource, input)) {
    const ownerId = await findUnique(trx, resource, access.orgId, unique);
    if (ownerId === undefined || ownerId === id) continue;
    const owner = mayRead(access, resource)
      ? await findVisible(trx, access, resource.name, ownerId)
      : undefined;
    const fault = { path: unique.path, message: takenMessage(resource, unique) };
    throw new ConflictError(fault, owner === undefined ? null : { resource: resource.name, id: ownerId });
  }
}
