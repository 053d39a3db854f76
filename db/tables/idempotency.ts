// Stored responses of keyed requests, written in the same transaction as the work they answer.
import type { Db, IdempotencyRow } from '../schema.ts';
import { statement } from '../statement.ts';
import type { Store } from '../store.ts';

// How long a stored response is replayed: 24 hours.
const RETENTION_MS = 24 * 60 * 60 * 1_000;
const PURGE_ROWS_MAX = 200;

const stored = statement<IdempotencyRow>((db, param) =>
  db
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('org_id', '=', param('org'))
    .where('principal', '=', param('principal'))
    .where('key', '=', param('key'))
    .where('created_at', '>', param('since')),
);

/** The response stored under a key in the last 24 hours. */
export async function findStoredResponse(
  db: Db,
  id: { orgId: number; principal: string; key: string; now: number },
): Promise<IdempotencyRow | undefined> {
  const since = id.now - RETENTION_MS;
  return (await stored(db, { org: id.orgId, principal: id.principal, key: id.key, since }))[0];
}

const insertion = statement<never>((db, param) =>
  db
    .insertInto('idempotency_keys')
    .values({
      org_id: param('org_id'),
      principal: param('principal'),
      key: param('key'),
      fingerprint: param('fingerprint'),
      status: param('status'),
      location: param('location'),
      body: param('body'),
      created_at: param('created_at'),
    })
    .onConflict((conflict) =>
      conflict.columns(['org_id', 'principal', 'key']).doUpdateSet((eb) => ({
        fingerprint: eb.ref('excluded.fingerprint'),
        status: eb.ref('excluded.status'),
        location: eb.ref('excluded.location'),
        body: eb.ref('excluded.body'),
        created_at: eb.ref('excluded.created_at'),
      })),
    ),
);

/** Stores a response; it takes the place of one that has expired under the same key. */
export async function storeResponse(trx: Db, row: IdempotencyRow): Promise<void> {
  await insertion(trx, { ...row });
}

/**
 * Deletes all expired responses, some at a time so that no write waits long, and each organization's under its own lock,
 * so that none waits for a request that uses its key again; gives how many went.
 */
export async function purgeStoredResponses(
  store: Pick<Store, 'read' | 'write'>,
  now: number,
): Promise<number> {
  let total = 0;
  for (;;) {
    const expired = await findExpired(store.read, now - RETENTION_MS);
    const upTo = expired.at(-1)?.created_at ?? 0;
    for (const orgId of new Set(expired.map((row) => row.org_id)))
      total += await store.write(orgId, (trx) => deleteUpTo(trx, orgId, upTo));
    if (expired.length < PURGE_ROWS_MAX) return total;
  }
}

// The oldest of them.
function findExpired(db: Db, since: number): Promise<Pick<IdempotencyRow, 'org_id' | 'created_at'>[]> {
  return db
    .selectFrom('idempotency_keys')
    .select(['org_id', 'created_at'])
    .where('created_at', '<=', since)
    .orderBy('created_at')
    .limit(PURGE_ROWS_MAX)
    .execute();
}

async function deleteUpTo(trx: Db, orgId: number, upTo: number): Promise<number> {
  const { numDeletedRows } = await trx
    .deleteFrom('idempotency_keys')
    .where('org_id', '=', orgId)
    .where('created_at', '<=', upTo)
    .executeTakeFirst();
  return Number(numDeletedRows);
}
