// Carries out `crm orgs update` and `crm orgs rename`.

import { getOrganization, type OrganizationChanges, updateOrganization } from '../../db/accounts/accounts.ts';
import type { OrganizationRow } from '../../db/engine/schema.ts';
import type { Data } from '../../db/model/json.ts';
import { formatCount } from '../../db/model/text.ts';
import { recordAction } from '../database/audit.ts';
import { checkedName, organizationNamed, withStore } from '../database/database.ts';
import { usageError } from '../errors.ts';
import { parseLifetime } from '../keys/expiry.ts';
import type { Config } from '../settings/config.ts';
import { durationText, type RequestLimitOption } from '../settings/options.ts';
import { note } from '../terminal/streams.ts';
import { printOrganization } from './output.ts';

export interface OrganizationFlags {
  keyExpiry?: string;
  requestsPerMinute?: RequestLimitOption;
}

/** Changes the settings of an organization and prints it. */
export async function runOrgsUpdate(
  nameOrId: string | undefined,
  { keyExpiry, requestsPerMinute }: OrganizationFlags,
  config: Config,
): Promise<void> {
  if (keyExpiry === undefined && requestsPerMinute === undefined)
    throw usageError(
      'Nothing to update.',
      'add --key-expiry 90d, or --key-expiry none.',
      'or add --requests-per-minute 5000, or --requests-per-minute default.',
    );
  const changes: OrganizationChanges = {
    ...(keyExpiry !== undefined && { keyLifetime: parseLifetime(keyExpiry) }),
    ...(requestsPerMinute !== undefined && {
      requestsPerMinute: requestsPerMinute === 'default' ? null : requestsPerMinute,
    }),
  };
  await printOrganization(config, await change(config, nameOrId, changes));
  for (const text of wordsFor(changes)) note(text);
}

/** Gives an organization another name and prints it; a single word is the name of the only organization. */
export async function runOrgsRename(
  first: string,
  second: string | undefined,
  _flags: unknown,
  config: Config,
): Promise<void> {
  const [nameOrId, text] = second === undefined ? [undefined, first] : [first, second];
  const name = checkedName('The name of an organization', text);
  await printOrganization(config, await change(config, nameOrId, { name }));
}

function change(
  config: Config,
  nameOrId: string | undefined,
  changes: OrganizationChanges,
): Promise<OrganizationRow> {
  return withStore(config.db, async (store) => {
    const found = await organizationNamed(store, nameOrId);
    return store.write('accounts', async (trx) => {
      await updateOrganization(trx, found, changes);
      const target = { type: 'organizations', id: found.id };
      const entry = { orgNumber: found.number, action: 'organization.changed', target } as const;
      await recordAction(trx, { ...entry, details: detailsOf(changes) });
      return getOrganization(trx, found.number);
    });
  });
}

function detailsOf({ name, keyLifetime, requestsPerMinute }: OrganizationChanges): Data {
  return {
    ...(name !== undefined && { is_renamed: true }),
    ...(keyLifetime !== undefined && { key_expiry: keyLifetime === null ? null : durationText(keyLifetime) }),
    ...(requestsPerMinute !== undefined && { requests_per_minute: requestsPerMinute }),
  };
}

function wordsFor({ keyLifetime, requestsPerMinute }: OrganizationChanges): string[] {
  const lasting = keyLifetime == null ? 'do not expire' : `last ${durationText(keyLifetime)}`;
  const limit =
    requestsPerMinute == null
      ? 'as many requests per minute as the server allows each organization'
      : `${formatCount(requestsPerMinute)} requests per minute`;
  return [
    ...(keyLifetime === undefined
      ? []
      : [`API keys issued from now on ${lasting} by default. Existing keys do not change.`]),
    ...(requestsPerMinute === undefined
      ? []
      : [`All keys together can send ${limit}, effective with the next request.`]),
  ];
}
