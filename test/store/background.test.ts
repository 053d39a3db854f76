// Work in the background that fails: it stops nothing else, and the operator hears of it once.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { findPendingOrganizations } from '../../db/search/pending.ts';
import { startIndexing } from '../../server/index-updates.ts';
import { purge } from '../../server/purge.ts';
import { errorReport } from '../../server/repeated-work.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { until } from '../support/until.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

test('what cannot be indexed of one organization keeps no other one waiting', async () => {
  const { store, orgNumber, otherOrgNumber } = harness;
  for (const org_id of [orgNumber, otherOrgNumber])
    await store.write(org_id, async (trx) => {
      const entries = org_id === orgNumber ? 'damaged' : '[]';
      await trx
        .insertInto('search_pending')
        .values({ org_id, id: Bun.randomUUIDv7(), records: 1, entries })
        .execute();
    });
  expect((await findPendingOrganizations(store.read)).toSorted()).toEqual([orgNumber, otherOrgNumber]);
  const errors: unknown[] = [];
  const indexing = startIndexing(store, (error) => errors.push(error));
  await until(async () => (await findPendingOrganizations(store.read)).length === 1);
  await indexing.stop();
  expect(await findPendingOrganizations(store.read)).toEqual([orgNumber]);
  expect(errors).not.toEqual([]);
});

test('what expires later is removed although something before it cannot be', async () => {
  const { store, orgNumber } = harness;
  const old = { org_id: orgNumber, created_at: 1, id: 'old', actor_type: 'operator', actor: 'root' };
  const none = { user_id: null, target_type: null, target_id: null, request_id: null, details: null };
  await store.write(orgNumber, async (trx) => {
    const row = { ...old, ...none, origin: 'host', action: 'key.issued' };
    await trx.insertInto('audit_log').values(row).execute();
  });
  const ids = async () =>
    (await store.read.selectFrom('audit_log').select('id').execute()).map(({ id }) => id);
  expect(await ids()).toContain('old');
  const errors: unknown[] = [];
  const failing = { ...store, counters: { purge: () => Promise.reject(new Error('on purpose')) } };
  await purge(failing as never, { auditKeepMs: 1_000 }, (error) => errors.push(error));
  expect(errors.map(String)).toEqual(['Error: on purpose']);
  expect(await ids()).not.toContain('old');
});

test('an error is told once, and another one too', () => {
  const lines: string[] = [];
  const report = errorReport('Removing expired data', (line) => lines.push(line));
  for (const message of ['no such table', 'no such table', 'too long', 'no such table'])
    report(new Error(message));
  expect(lines).toEqual([
    'Removing expired data failed and will be retried: no such table.',
    'Removing expired data failed and will be retried: too long.',
  ]);
});
