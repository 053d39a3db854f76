// The 409 for something that only one record may have.
import type { Resource, Row } from '../../db/declare/resource.ts';
import { type Access, canSee, mayRead } from '../access.ts';
import { ApiError } from '../errors.ts';

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

/** The error for a value that another record has: `owner` is its row. */
export function conflict(
  access: Access,
  resource: Resource,
  owner: Row,
  fault: { path: string; message: string },
): ConflictError {
  const isShown = canSee(access, resource, owner) && mayRead(access, resource);
  return new ConflictError(fault, isShown ? { resource: resource.name, id: String(owner.id) } : null);
}
