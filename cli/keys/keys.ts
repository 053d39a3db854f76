// Keys by ID, as operators name them.

import { findKey } from '../../db/accounts/keys.ts';
import type { ApiKeyRow } from '../../db/engine/schema.ts';
import type { Store } from '../../db/store.ts';
import { CliError } from '../errors.ts';
import { keyStatus } from './output.ts';

/** The key with that ID; an error if it does not work any more. */
export async function activeKey(store: Store, id: string, now: number): Promise<ApiKeyRow> {
  const row = await keyOfId(store, id);
  const status = keyStatus(row, now);
  if (status === 'active') return row;
  const nextSteps = ['issue a new key with "crm keys issue".'];
  throw new CliError(`Key ${id} is ${status} and cannot be reactivated.`, { nextSteps });
}

/** The key with that ID; an error if there is none. */
export async function keyOfId(store: Store, id: string): Promise<ApiKeyRow> {
  const row = await findKey(store.read, id);
  if (row !== undefined) return row;
  // People paste the key itself by mistake: never repeat it.
  const named = /^service_/.test(id) ? 'No API key has that ID.' : `No API key has the ID "${id}".`;
  const nextSteps = ['use the ID of the key, not the key itself. To list keys: crm keys list'];
  throw new CliError(named, { nextSteps });
}

/** What an entry of the audit log about a key begins with. */
export function aboutKey({ org_id: orgNumber, id }: ApiKeyRow) {
  return { orgNumber, target: { type: 'keys', id } };
}
