// Errors in version 1 terms: its field names, and people instead of contacts.
import { ApiError, type Detail, validationError } from '../errors.ts';
import type { Operation } from '../operation.ts';
import { v1Path, v1Text } from './translate.ts';

/** How the errors of a version 1 operation differ. */
export interface V1Errors extends Pick<Operation, 'errorStatuses'> {
  /** The body's names for fields of version 2, if they differ. */
  ownNames?: Readonly<Record<string, string>>;
}

/** Runs version 2 logic; a conflict becomes a 422 for operations whose specification lists no 409. */
export async function toV1Errors<T>(row: V1Errors, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw error instanceof ApiError ? translated(error, row) : error;
  }
}

function translated(error: ApiError, { errorStatuses, ownNames = {} }: V1Errors): ApiError {
  const { kind, headers, cause } = error;
  const isRefusal = kind === 'RESOURCE_CONFLICT' && !errorStatuses.includes(409);
  const details = error.details?.map(
    ({ path, message, code }): Detail => ({
      path: ownNames[path] ?? v1Path(path),
      message: v1Text(message),
      code: isRefusal ? 'VALIDATION_FAILED' : code,
    }),
  );
  // With one fault the message contains the path; with several, only their number.
  if (details?.length === 1) return validationError(details);
  return new ApiError(kind, v1Text(error.message), { headers, cause, ...(details && { details }) });
}
