// Shows what a key would give access to: its scopes in words, and how many records.

import { type NewKey, scopesFromV1 } from '../../db/accounts/keys.ts';
import { tableOf } from '../../db/engine/schema.ts';
import type { Resource } from '../../db/model/resource.ts';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import type { Store } from '../../db/store.ts';
import { listWebhooks } from '../../db/webhooks/webhooks.ts';

/** One resource that a key would give access to. */
export interface KeyPreview {
  resource: string;
  /** Such as `read, write`. */
  may: string;
  /** How many records the key could access now. */
  records: number;
}

/** What a key would give access to, resource by resource. */
export async function previewKey(store: Store, key: NewKey): Promise<KeyPreview[]> {
  const scopes = key.api === 'v1' ? scopesFromV1(key.scopes) : key.scopes;
  const opened: KeyPreview[] = [];
  for (const resource of RESOURCES) {
    const may = actionsOn(resource.name, scopes);
    if (may === '') continue;
    opened.push({
      resource: key.api === 'v1' && resource.name === 'contacts' ? 'people' : resource.name,
      may,
      records: await countVisible(store, resource, key),
    });
  }
  const may = actionsOn('webhooks', scopes);
  if (may !== '')
    opened.push({ resource: 'webhooks', may, records: (await listWebhooks(store.read, key)).length });
  return opened;
}

function actionsOn(name: string, scopes: readonly string[]): string {
  const own = scopes.filter((scope) => scope.startsWith(`${name}:`));
  return own.map((scope) => scope.split(':')[1]).join(', ');
}

async function countVisible(
  store: Store,
  resource: Resource,
  { orgNumber, userId }: NewKey,
): Promise<number> {
  let query = store.read
    .selectFrom(tableOf(resource))
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('org_id', '=', orgNumber);
  if (userId !== null && resource.owner !== null)
    query = query.where(resource.owner as never, '=', userId as never);
  return Number((await query.executeTakeFirst())?.total ?? 0);
}
