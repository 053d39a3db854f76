// Ends a key, with what it made, and records both.

import { revokeKey } from '../../db/accounts/keys.ts';
import type { ApiKeyRow } from '../../db/engine/schema.ts';
import type { Store } from '../../db/store.ts';
import { recordAction } from '../database/audit.ts';
import { aboutKey } from './keys.ts';

/** Revokes a key and disables its webhooks. */
export function endKey(store: Store, row: ApiKeyRow): ReturnType<typeof revokeKey> {
  return store.write('accounts', async (trx) => {
    const revoked = await revokeKey(trx, row, Date.now());
    if (revoked.isRevoked) await recordAction(trx, { action: 'key.revoked', ...aboutKey(row) });
    for (const webhook of revoked.disabled)
      await recordAction(trx, {
        action: 'webhook.disabled',
        orgNumber: row.org_id,
        target: { type: 'webhooks', id: webhook.id },
        details: { reason: 'key_revoked' },
      });
    return revoked;
  });
}
