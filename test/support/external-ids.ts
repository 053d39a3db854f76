// External IDs in a database that an older crm, which did not know them, has filled.
import { expect } from 'bun:test';
import type { Harness } from './harness.ts';
import { OLDER_TASK } from './older-file.ts';
import { clientOf } from './v2.ts';

/** Asserts that its task can get an external ID, be found by it, and be deleted with it. */
export async function expectExternalIds(harness: Harness): Promise<void> {
  const api = clientOf(harness, (await harness.issue({ orgNumber: 9 })).key);
  const path = `/tasks/${OLDER_TASK}/external_ids`;
  expect(await api.list(path)).toEqual([]);
  expect((await api.post(path, { source: 'crm', id: '1' })).status).toBe(200);
  expect(await api.ids('/tasks?external_id=crm:1')).toEqual([OLDER_TASK]);
  expect((await api.del(`/tasks/${OLDER_TASK}`)).status).toBe(204);
  expect(await api.ids('/tasks?external_id=crm:1')).toEqual([]);
  const rows = await harness.store.read.selectFrom('external_ids').selectAll().execute();
  expect(rows).toEqual([]);
}
