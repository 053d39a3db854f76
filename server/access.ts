// Who sends a request and what they can access: all that business rules know about a key.

import type { AccessLevel } from '../db/accounts/keys.ts';
import type { ApiKeyRow } from '../db/engine/schema.ts';
import type { Data } from '../db/model/json.ts';
import type { Resource, Row } from '../db/model/resource.ts';

export interface Access {
  orgNumber: number;
  /** The public ID of the organization; null for a credential that is not a key. */
  organizationId: string | null;
  keyId: string;
  /** The number of the key in its organization, for the log of changes; 0 for a credential that is not a key. */
  keyNumber: number;
  level: AccessLevel;
  /** The user that a user-bound key is limited to; null for organization-wide keys. */
  userId: string | null;
  scopes: ReadonlySet<string>;
  /** Bytes of request bodies that the organization can have in flight; null for the default. */
  bodyBytesMax: number | null;
  /** Requests per minute of the key, and of its organization; null for the limits of the server. */
  requestsPerMinute: { key: number | null; organization: number | null };
}

/** What a key can access now, outside any request. */
export function accessOfKey(row: ApiKeyRow): Access {
  return {
    orgNumber: row.org_id,
    organizationId: null,
    keyId: row.id,
    keyNumber: row.number,
    level: row.access as AccessLevel,
    userId: row.access === 'user' ? row.user_id : null,
    scopes: new Set(row.scopes.split(',')),
    bodyBytesMax: row.body_bytes_max,
    requestsPerMinute: requestLimitsOf(row),
  };
}

/** The limits on requests that are set for a key, and for its organization. */
export function requestLimitsOf(
  row: Pick<ApiKeyRow, 'requests_per_minute' | 'org_requests_per_minute'>,
): Access['requestsPerMinute'] {
  return { key: row.requests_per_minute, organization: row.org_requests_per_minute };
}

/** The principal of a key: goes into created_by, and separates the idempotency keys of different callers. */
export function principalOf(access: Access): string {
  return access.userId ?? access.keyId;
}

/** Whether the key can see a record, in stored or shown form: organization-wide keys see all, others their user's. */
export function canSee(access: Access, resource: Resource, record: Row | Data): boolean {
  return access.userId === null || resource.owner === null || record[resource.owner] === access.userId;
}

/** The owner that lists are limited to; null for none. */
export function ownerFilter(access: Access, resource: Resource): string | null {
  return resource.owner === null ? null : access.userId;
}

/** Whether the key has that v2 scope or, for v1 keys, its counterpart. */
export function hasScope({ scopes }: Access, scope: string): boolean {
  return scopes.has(scope) || scopes.has('ALL') || scopes.has(scope.replace(/^contacts:/, 'people:'));
}

/** Whether the key can read a resource at all, regardless of who owns the records. */
export function mayRead(access: Access, resource: Resource): boolean {
  return hasScope(access, `${resource.name}:read`);
}
