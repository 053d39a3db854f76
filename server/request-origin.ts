// Who sends a request, and from where, for the audit log.
import type { Actor } from '../db/tables/audit.ts';
import type { Access } from './access.ts';

/** Where a request came from. */
export interface RequestOrigin {
  requestId: string;
  /** The client IP, for audited actions. */
  address: string | null;
}

/** The actor of a request with a key. */
export function actorOf({ access, origin }: { access: Access; origin: RequestOrigin }): Actor {
  return { type: 'key', id: access.keyId, userId: access.userId, origin: origin.address || 'unknown' };
}
