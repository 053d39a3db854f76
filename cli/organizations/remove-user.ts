// Carries out `crm users remove`.
import type { OrganizationRow, UserRow } from '../../db/engine/schema.ts';
import { singularOf } from '../../db/model/text.ts';
import { countOwned, findKeysOfUser, removeUser } from '../../db/removal/user.ts';
import type { Store } from '../../db/store.ts';
import { recordAction } from '../database/audit.ts';
import { organizationNamed, userNamed, withStore } from '../database/database.ts';
import { usageError } from '../errors.ts';
import { endKey } from '../keys/end.ts';
import type { Config } from '../settings/config.ts';
import { counted } from '../terminal/format.ts';
import { printSummaryJson } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';

export interface RemoveFlags {
  org?: string;
  transferTo: string;
  dryRun?: boolean;
}

/** Removes a user whose records go to another one, or shows what that would mean. */
export async function runUsersRemove(
  emailOrId: string,
  { org: orgName, transferTo, dryRun = false }: RemoveFlags,
  config: Config,
): Promise<void> {
  const done = await withStore(config.db, async (store) => {
    const org = await organizationNamed(store, orgName);
    const from = await userNamed(store, org, emailOrId);
    const to = await userNamed(store, org, transferTo);
    if (from.id === to.id)
      throw usageError(`${from.email} is the user to remove.`, 'set --transfer-to to another user.');
    const keys = await findKeysOfUser(store.read, from);
    if (dryRun) return { from, to, keys: keys.length, records: await countOwned(store.read, from) };
    for (const key of keys) await endKey(store, key);
    const records = await transfer(store, org, { from, to, keys: keys.length });
    return { from, to, keys: keys.length, records };
  });
  const { from, to, keys, records } = done;
  const summary = { dry_run: dryRun, user_id: from.id, transfer_to: to.id, keys_revoked: keys, records };
  await printSummaryJson(config, summary);
  const given = Object.entries(records).map(([name, count]) => counted(count, singularOf(name), name));
  const what = given.length === 0 ? 'no records' : given.join(', ');
  if (dryRun) {
    note(`Would remove ${from.email}, revoke ${counted(keys, 'key')}, and give ${to.email} ${what}.`);
    return note('Dry run: nothing was changed.');
  }
  note(`Removed ${from.email}, revoked ${counted(keys, 'key')}, and gave ${to.email} ${what}.`);
}

async function transfer(
  store: Store,
  org: OrganizationRow,
  { from, to, keys }: { from: UserRow; to: UserRow; keys: number },
): Promise<Record<string, number>> {
  return removeUser(store, {
    from,
    to,
    finish: async (trx, records) => {
      const target = { type: 'users', id: from.id };
      const details = { transferred_to: to.id, keys_revoked: keys, records };
      await recordAction(trx, { action: 'user.removed', orgNumber: org.number, target, details });
    },
  });
}
