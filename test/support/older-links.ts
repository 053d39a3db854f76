// Links in a database that an older crm, which did not list all of them, has filled.
import { expect } from 'bun:test';
import { tableOf } from '../../db/engine/schema.ts';
import type { Harness } from './harness.ts';
import { OLDER_CHANGE, OLDER_MEETING } from './older-file.ts';
import { clientOf } from './v2.ts';

/** Asserts that its association has the time at which the meeting was last changed then, whatever changes it now. */
export async function expectOlderLinks(harness: Harness): Promise<void> {
  const api = clientOf(harness, (await harness.issue({ orgNumber: 9 })).key);
  await harness.store.write(9, (trx) =>
    trx
      .updateTable(tableOf({ name: 'meetings' }))
      .set({ updated_at: OLDER_CHANGE + 1 })
      .execute(),
  );
  expect(await api.list('/links?of=meetings.company')).toEqual([
    { parent_id: OLDER_MEETING, id: 'c', linked_at: new Date(OLDER_CHANGE).toISOString() },
  ]);
}
