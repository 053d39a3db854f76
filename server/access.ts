// Who is asking and what they may do: the one thing that business rules know of a key.

import type { Data } from '../db/model/json.ts';
import type { Resource, Row } from '../db/model/resource.ts';
import type { AccessLevel } from '../db/tables/keys.ts';

export interface Access {
  orgId: number;
  /** What the organization is called outside of the database; null for a credential that is no key. */
  organizationId: string | null;
  keyId: string;
  level: AccessLevel;
  /** The user that a user-bound key is limited to; null for organization-wide keys. */
  userId: string | null;
  scopes: ReadonlySet<string>;
  /** Bytes of request bodies that the organization may have under way; null for as many as any other. */
  bodyBytesMax: number | null;
}

/** Whose work it is: goes into created_by and tells idempotency keys of different callers apart. */
export function principalOf(access: Access): string {
  return access.userId ?? access.keyId;
}

/** Whether the key sees a record, stored or shown: organization-wide keys see all, user-bound ones what their user owns. */
export function canSee(access: Access, resource: Resource, record: Row | Data): boolean {
  return access.userId === null || resource.owner === null || record[resource.owner] === access.userId;
}

/** The owner that lists are limited to, null for none. */
export function ownerFilter(access: Access, resource: Resource): string | null {
  return resource.owner === null ? null : access.userId;
}

/** Whether the key was issued with that v2 scope or, for v1 keys, with its counterpart. */
export function hasScope({ scopes }: Access, scope: string): boolean {
  return scopes.has(scope) || scopes.has('ALL') || scopes.has(scope.replace(/^contacts:/, 'people:'));
}

/** Whether the key may read a resource at all, whosever the records are. */
export function mayRead(access: Access, resource: Resource): boolean {
  return hasScope(access, `${resource.name}:read`);
}
