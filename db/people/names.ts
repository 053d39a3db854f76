// Erases a person's addresses from the names of stages and API keys and the descriptions of webhooks, which are not records.

import { actingAs } from '../engine/acting.ts';
import { ERASURE } from '../engine/author.ts';
import { takeInstant } from '../engine/write-instant.ts';
import type { Store } from '../store.ts';
import { renameStage } from '../tables/pipelines.ts';
import type { DataSubject } from './person.ts';

/** Takes a person's addresses out of the names that contain them; for each, returns what has it: pipelines, keys or webhooks. */
export async function eraseNames(
  store: Store,
  { orgNumber, addresses }: DataSubject,
  isDryRun: boolean,
): Promise<string[]> {
  const found = async (table: 'pipeline_stages' | 'api_keys') => {
    const rows = await store.read
      .selectFrom(table)
      .select(['id', 'name'])
      .where('org_id', '=', orgNumber)
      .execute();
    return rows.flatMap(({ id, name }) =>
      name !== null && addresses.isIn(name) ? [{ id, name: addresses.takenOutOf(name) }] : [],
    );
  };
  const [stages, keys] = [await found('pipeline_stages'), await found('api_keys')];
  const webhooks = await describedWebhooks(store, { orgNumber, addresses });
  for (const { id, name } of isDryRun ? [] : stages)
    await store.write(orgNumber, async (trx) => {
      const now = await takeInstant(trx, orgNumber, Date.now());
      await renameStage(actingAs(trx, ERASURE), { orgNumber, id }, name, now);
    });
  for (const { id, name } of isDryRun ? [] : keys)
    await store.write('accounts', async (trx) => {
      const update = trx.updateTable('api_keys').set({ name }).where('org_id', '=', orgNumber);
      await update.where('id', '=', id).execute();
    });
  for (const { id, description } of isDryRun ? [] : webhooks)
    await store.write(orgNumber, async (trx) => {
      const update = trx.updateTable('webhooks').set({ description }).where('org_id', '=', orgNumber);
      await update.where('id', '=', id).execute();
    });
  return [...stages.map(() => 'pipelines'), ...keys.map(() => 'keys'), ...webhooks.map(() => 'webhooks')];
}

async function describedWebhooks(
  store: Store,
  { orgNumber, addresses }: Pick<DataSubject, 'orgNumber' | 'addresses'>,
): Promise<{ id: string; description: string }[]> {
  const rows = await store.read
    .selectFrom('webhooks')
    .select(['id', 'description'])
    .where('org_id', '=', orgNumber)
    .execute();
  return rows.flatMap(({ id, description }) =>
    description !== null && addresses.isIn(description)
      ? [{ id, description: addresses.takenOutOf(description) }]
      : [],
  );
}
