// Removes a user of an organization, after giving everything that the user owns to another one.

import { deleteUser } from '../accounts/accounts.ts';
import { actingAs } from '../engine/acting.ts';
import { OPERATOR } from '../engine/author.ts';
import type { ApiKeyRow, Db, RecordRow, Trx, UserRow } from '../engine/schema.ts';
import { tableOf } from '../engine/schema.ts';
import { takeInstant } from '../engine/write-instant.ts';
import { nextTurn } from '../event-loop.ts';
import type { Resource } from '../model/resource.ts';
import { RESOURCES } from '../model/resources/registry.ts';
import { updateReservedRecords } from '../records/record-updates.ts';
import { findRecords } from '../records/records.ts';
import type { Store } from '../store.ts';

// Small, so that others do not wait long for the write lock.
const RECORDS_PER_JOB = 25;

export interface UserRemoval {
  from: UserRow;
  to: UserRow;
  /** Runs in the transaction that removes the user, with the number of records by resource. */
  finish: (trx: Trx, records: Record<string, number>) => Promise<void>;
}

/** The keys that are bound to a user and not revoked. */
export function findKeysOfUser(db: Db, { org_id, id }: UserRow): Promise<ApiKeyRow[]> {
  return db
    .selectFrom('api_keys')
    .selectAll()
    .where('org_id', '=', org_id)
    .where('user_id', '=', id)
    .where('revoked_at', 'is', null)
    .execute();
}

/** How many records of each resource a user owns; those without any are left out. */
export async function countOwned(db: Db, user: UserRow): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { resource, owner } of OWNED) {
    const row = await ofUser(db, resource, owner, user)
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirst();
    const total = Number(row?.total ?? 0);
    if (total > 0) counts[resource.name] = total;
  }
  return counts;
}

/** Gives the records of a user to another one, a few at a time, and then removes the user; resolves with their number by resource. */
export async function removeUser(
  store: Store,
  { from, to, finish }: UserRemoval,
): Promise<Record<string, number>> {
  const records: Record<string, number> = {};
  for (;;) {
    const given = await store.write(from.org_id, async (trx) => {
      const some = await giveSome(trx, from, to);
      if (some !== null) return some;
      await deleteUser(trx, from);
      await finish(trx, records);
      return null;
    });
    if (given === null) return records;
    records[given.resource] = (records[given.resource] ?? 0) + given.count;
    await nextTurn();
  }
}

const OWNED = RESOURCES.flatMap((resource) =>
  resource.owner === null ? [] : [{ resource, owner: resource.owner }],
);

async function giveSome(
  trx: Trx,
  from: UserRow,
  to: UserRow,
): Promise<{ resource: string; count: number } | null> {
  for (const { resource, owner } of OWNED) {
    const found = await ofUser(trx, resource, owner, from).select('id').limit(RECORDS_PER_JOB).execute();
    if (found.length === 0) continue;
    const ids = found.map(({ id }) => id);
    const rows: RecordRow[] = await findRecords(trx, resource, from.org_id, ids);
    const updated_at = await takeInstant(trx, from.org_id, Date.now());
    const updates = rows.map((row) => ({ row, columns: { [owner]: to.id, updated_at } }));
    await updateReservedRecords(actingAs(trx, OPERATOR), resource, from.org_id, updates);
    return { resource: resource.name, count: rows.length };
  }
  return null;
}

function ofUser(db: Db, resource: Resource, owner: string, { org_id, id }: UserRow) {
  return db
    .selectFrom(tableOf(resource))
    .where('org_id', '=', org_id)
    .where(owner as never, '=', id as never);
}
