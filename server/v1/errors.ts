// Errors in the words of version 1: its own names of fields, and people where version 2 has contacts.
import { ApiError, type Detail, validationError } from '../errors.ts';
import type { Operation } from '../operation.ts';
import { v1Path, v1Text } from './translate.ts';

/** What an operation of version 1 has of its own in errors. */
export interface V1Errors extends Pick<Operation, 'errorStatuses'> {
  /** Names of the body's own for fields of version 2. */
  ownNames?: Readonly<Record<string, string>>;
}

/** Runs what version 2 does; a conflict is a 422 for the operations whose row in the contract lists no 409. */
export async function inV1Words<T>(row: V1Errors, run: () => Promise<T>): Promise<T> {
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
  // Of one fault the message repeats the path; of several it says only how many there are.
  if (details?.length === 1) return validationError(details);
  return new ApiError(kind, v1Text(error.message), { headers, cause, ...(details && { details }) });
}
