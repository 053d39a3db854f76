// Step 3, scope: the key must have every scope that the operation requires.
import { type Access, hasScope } from '../access.ts';
import { ApiError, insufficientScope } from '../errors.ts';
import type { Operation } from '../operation.ts';

/** @throws ApiError 403 if a scope is missing, or the operation is not available to user-bound keys. */
export function requireAccess(operation: Operation, access: Access): void {
  for (const scope of operation.scopes) requireScope(access, scope);
  if (operation.isOrganizationOnly === true && access.userId !== null) {
    const message =
      'A user-bound key cannot change resources that belong to the organization; use an organization-wide key.';
    throw new ApiError('OPERATION_FORBIDDEN', message);
  }
}

/** @throws ApiError 403 if the key does not have that scope. */
export function requireScope(access: Access, scope: string): void {
  if (!hasScope(access, scope)) throw insufficientScope(scope);
}
