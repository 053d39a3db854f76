// Carries out `crm users create`, `list` and `update`.

import { createUser, listUsers, updateUser } from '../../db/accounts/accounts.ts';
import type { OrganizationRow, UserRow } from '../../db/engine/schema.ts';
import type { Data } from '../../db/model/json.ts';
import { recordAction } from '../database/audit.ts';
import {
  checkedEmail,
  checkedName,
  organizationNamed,
  userNamed,
  withReader,
  withStore,
} from '../database/database.ts';
import { usageError } from '../errors.ts';
import type { Config } from '../settings/config.ts';
import { type ColumnLayout, printRecord, printRecords } from '../terminal/output.ts';

const FIELDS = ['id', 'email', 'name', 'org_id'];
const LOOK: ColumnLayout = { columns: FIELDS, allFields: FIELDS };

export interface UserOptions {
  org?: string;
  name?: string;
}

/** Creates a user and prints it. */
export async function runUsersCreate(text: string, options: UserOptions, config: Config): Promise<void> {
  const email = checkedEmail(text);
  const name = options.name === undefined ? null : checkedName('The name of a user', options.name);
  const user = await withStore(config.db, async (store) => {
    const org = await organizationNamed(store, options.org);
    const given = { orgNumber: org.number, email, name, now: Date.now() };
    const made = await store.write('accounts', async (trx) => {
      const row = await createUser(trx, given);
      const target = { type: 'users', id: row.id };
      await recordAction(trx, { action: 'user.created', orgNumber: org.number, target });
      return row;
    });
    return presented(made, org);
  });
  await printRecord(config, user, LOOK);
}

/** Prints the users of an organization. */
export async function runUsersList(options: UserOptions, config: Config): Promise<void> {
  const users = await withReader(config.db, async (store) => {
    const org = await organizationNamed(store, options.org);
    return (await listUsers(store.read, org.number)).map((user) => presented(user, org));
  });
  await printRecords(config, users, LOOK);
}

/** Changes a user and prints it. */
export async function runUsersUpdate(
  emailOrId: string,
  options: UserOptions & { email?: string },
  config: Config,
): Promise<void> {
  const changes = {
    ...(options.email !== undefined && { email: checkedEmail(options.email) }),
    ...(options.name !== undefined && { name: checkedName('The name of a user', options.name) }),
  };
  const changed = Object.keys(changes);
  if (changed.length === 0) throw usageError('Nothing to update.', 'add --email EMAIL or --name NAME.');
  const user = await withStore(config.db, async (store) => {
    const org = await organizationNamed(store, options.org);
    const found = await userNamed(store, org, emailOrId);
    await store.write('accounts', async (trx) => {
      await updateUser(trx, found, changes);
      const target = { type: 'users', id: found.id };
      const entry = { action: 'user.changed', orgNumber: org.number, target } as const;
      await recordAction(trx, { ...entry, details: { changed } });
    });
    return presented({ ...found, ...changes }, org);
  });
  await printRecord(config, user, LOOK);
}

function presented({ id, email, name }: UserRow, org: OrganizationRow): Data {
  return { id, email, name, org_id: org.id };
}
