// Erases a person's addresses from what operators and clients named or described, which are not records.

import { actingAs } from '../engine/acting.ts';
import { ERASURE } from '../engine/author.ts';
import type { RecordKey } from '../engine/schema.ts';
import { takeInstant } from '../engine/write-instant.ts';
import { renameStage } from '../records/pipelines.ts';
import type { Store } from '../store.ts';
import { updateWebhook } from '../webhooks/webhooks.ts';
import type { DataSubject } from './person.ts';

interface NameColumn {
  table: 'pipeline_stages' | 'api_keys' | 'webhooks';
  column: 'name' | 'description';
  /** As it is counted. */
  of: 'pipelines' | 'keys' | 'webhooks';
  save(store: Store, key: RecordKey, text: string): Promise<unknown>;
}

const NAME_COLUMNS: readonly NameColumn[] = [
  {
    ...{ table: 'pipeline_stages', column: 'name', of: 'pipelines' },
    save: (store, key, name) =>
      store.write(key.orgNumber, async (trx) => {
        const now = await takeInstant(trx, key.orgNumber, Date.now());
        await renameStage(actingAs(trx, ERASURE), key, name, now);
      }),
  },
  {
    ...{ table: 'api_keys', column: 'name', of: 'keys' },
    save: (store, { orgNumber, id }, name) =>
      store.write('accounts', (trx) => {
        const update = trx.updateTable('api_keys').set({ name }).where('org_id', '=', orgNumber);
        return update.where('id', '=', id).execute();
      }),
  },
  {
    ...{ table: 'webhooks', column: 'description', of: 'webhooks' },
    save: (store, key, description) =>
      store.write(key.orgNumber, (trx) => updateWebhook(trx, key, { description })),
  },
];

/** Takes a person's addresses out of the names that contain them; returns what has each, such as keys. */
export async function eraseNames(
  store: Store,
  { orgNumber, addresses }: DataSubject,
  isDryRun: boolean,
): Promise<string[]> {
  const erased: string[] = [];
  for (const { table, column, of, save } of NAME_COLUMNS) {
    const rows = await store.read
      .selectFrom(table)
      .select(['id', `${column} as text`])
      .where('org_id', '=', orgNumber)
      .execute();
    for (const { id, text } of rows) {
      if (text === null || !addresses.isIn(text)) continue;
      erased.push(of);
      if (!isDryRun) await save(store, { orgNumber, id }, addresses.takenOutOf(text));
    }
  }
  return erased;
}
