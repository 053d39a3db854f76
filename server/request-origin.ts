// Who asks, and from where, as the audit log has it.
import type { Actor } from '../db/tables/audit.ts';
import type { Access } from './access.ts';

/** Where a request came from. */
export interface RequestOrigin {
  requestId: string;
  /** The client's network address, of what is told in the audit log. */
  address: string | null;
}

/** Who asks, of a request that carries a key. */
export function actorOf({ access, origin }: { access: Access; origin: RequestOrigin }): Actor {
  return { type: 'key', id: access.keyId, userId: access.userId, origin: origin.address || 'unknown' };
}
