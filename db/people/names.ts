// Erases a person's addresses from the names of stages and API keys, which are not records.

import { actingAs } from '../engine/acting.ts';
import { ERASURE } from '../engine/author.ts';
import { takeInstant } from '../engine/write-instant.ts';
import type { Store } from '../store.ts';
import { renameStage } from '../tables/pipelines.ts';
import type { DataSubject } from './person.ts';

/** Takes a person's addresses out of the names that contain them; for each, returns what has it: pipelines or keys. */
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
  return [...stages.map(() => 'pipelines'), ...keys.map(() => 'keys')];
}
