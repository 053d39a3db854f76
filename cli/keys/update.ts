// Carries out `crm keys update`.

import { getOrganization } from '../../db/accounts/accounts.ts';
import { type KeyChanges, updateKey } from '../../db/accounts/keys.ts';
import type { Data } from '../../db/model/json.ts';
import { recordAction } from '../database/audit.ts';
import { checkedName, withStore } from '../database/database.ts';
import { usageError } from '../errors.ts';
import type { Config } from '../settings/config.ts';
import type { RequestLimitOption } from '../settings/options.ts';
import { note } from '../terminal/streams.ts';
import { aboutKey, activeKey } from './keys.ts';
import { allowedNetworks, usableFrom } from './networks.ts';
import { beyondOrganization, requestsText } from './requests.ts';

export interface KeyUpdateFlags {
  allowIp?: string[];
  allowAny?: boolean;
  name?: string;
  requestsPerMinute?: RequestLimitOption;
}

/** Changes the name, the networks or the request limit of a key. */
export async function runKeysUpdate(id: string, flags: KeyUpdateFlags, config: Config): Promise<void> {
  const changes = changesIn(flags);
  const told = await withStore(config.db, async (store) => {
    const row = await activeKey(store, id, Date.now());
    await store.write('accounts', async (trx) => {
      await updateKey(trx, row, changes);
      await recordAction(trx, { action: 'key.changed', ...aboutKey(row), details: detailsOf(changes) });
    });
    const { requestsPerMinute } = changes;
    if (requestsPerMinute == null) return [];
    return beyondOrganization(requestsPerMinute, await getOrganization(store.read, row.org_id));
  });
  for (const text of wordsFor(changes)) note(`Key ${id} ${text}, effective with the next request.`);
  if (changes.name !== undefined) note(`Renamed key ${id} to ${changes.name}.`);
  for (const text of told) note(text);
}

function changesIn({ allowIp, allowAny, name, requestsPerMinute }: KeyUpdateFlags): KeyChanges {
  if (allowIp !== undefined && allowAny === true)
    throw usageError('Use either --allow-ip or --allow-any, not both.', 'remove one of them.');
  const networks = allowIp === undefined ? null : allowedNetworks(allowIp);
  const changes: KeyChanges = {
    ...(name !== undefined && { name: checkedName('The name of a key', name) }),
    ...((allowIp !== undefined || allowAny === true) && { networks }),
    ...(requestsPerMinute !== undefined && {
      requestsPerMinute: requestsPerMinute === 'default' ? null : requestsPerMinute,
    }),
  };
  if (Object.keys(changes).length > 0) return changes;
  throw usageError(
    'Nothing to update.',
    'add --name LABEL, --allow-ip CIDR (repeatable), --allow-any, or --requests-per-minute N.',
  );
}

// Not the name, because people name keys after people.
function detailsOf({ name, networks, requestsPerMinute }: KeyChanges): Data {
  return {
    ...(name !== undefined && { is_renamed: true }),
    ...(networks !== undefined && { networks: networks === null ? null : [...networks] }),
    ...(requestsPerMinute !== undefined && { requests_per_minute: requestsPerMinute }),
  };
}

function wordsFor({ networks, requestsPerMinute }: KeyChanges): string[] {
  return [
    ...(networks === undefined ? [] : [`can be used from ${usableFrom(networks)}`]),
    ...(requestsPerMinute === undefined ? [] : [`can send ${requestsText(requestsPerMinute)}`]),
  ];
}
