// The 409 for something that only one record may have.
import { ApiError } from '../errors.ts';

/** A conflict with an existing record, which the answer points to where the key may see it. */
export class ConflictError extends ApiError {
  /** The field that conflicts, dotted. */
  readonly path: string;

  /**
   * @param resource (plural) of the record that is in the way
   * @param existingId its id; null where the key may not see it
   */
  constructor(resource: string, existingId: string | null, path: string, message: string) {
    super('RESOURCE_CONFLICT', `${path}: ${message}`, {
      details: [{ path, message, code: 'RESOURCE_CONFLICT' }],
      ...(existingId !== null && { location: `/api/v2/${resource}/${existingId}` }),
    });
    this.name = 'ConflictError';
    this.path = path;
  }
}

/** The error for a value at `path` that another record has. */
export function conflict(
  resource: string,
  existingId: string | null,
  path: string,
  message: string,
): ConflictError {
  return new ConflictError(resource, existingId, path, message);
}
