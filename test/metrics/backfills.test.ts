// What metrics tell of the parts of a database that are being built.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { beginBackfill, noteTotal } from '../../db/tables/backfills.ts';
import { BatchStats, serviceMetrics } from '../../server/metrics/service-metrics.ts';
import { WebhookStats } from '../../server/webhooks/webhook-stats.ts';
import { type Harness, startHarness } from '../support/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

async function told(): Promise<Record<string, number>> {
  const { store } = harness;
  const metrics = await serviceMetrics({
    ...{ version: '1.2.3', commit: 'abcdef', readers: 0, store },
    ...{ batches: new BatchStats(), webhooks: new WebhookStats() },
    ...{ isDraining: false, delay: null, backups: null },
  });
  return Object.fromEntries(
    metrics
      .filter(({ name }) => name.startsWith('crm_backfill_'))
      .flatMap(({ name, values }) => values.map(({ labels, value }) => [`${name} ${labels.part}`, value])),
  );
}

const NOTHING = {
  'crm_backfill_organizations search': 0,
  'crm_backfill_organizations timeline': 0,
  'crm_backfill_records search': 0,
  'crm_backfill_records timeline': 0,
  'crm_backfill_read_records search': 0,
  'crm_backfill_read_records timeline': 0,
};

test('are nothing, unless a part is being built', async () => {
  expect(await told()).toEqual(NOTHING);
});

test('are how many organizations wait, and how much is read', async () => {
  const { store, orgNumber, otherOrgNumber } = harness;
  for (const org of [orgNumber, otherOrgNumber])
    await store.write(org, (trx) => beginBackfill(trx, org, 'search'));
  // Until all are counted nobody knows how many there are.
  const { 'crm_backfill_records search': _, ...uncounted } = NOTHING;
  expect(await told()).toEqual({ ...uncounted, 'crm_backfill_organizations search': 2 });
  for (const org of [orgNumber, otherOrgNumber])
    await store.write(org, (trx) => noteTotal(trx, { orgNumber: org, name: 'search' }, 70));
  await store.write(orgNumber, (trx) =>
    trx.updateTable('backfills').set({ records: 30 }).where('org_id', '=', orgNumber).execute(),
  );
  expect(await told()).toEqual({
    ...NOTHING,
    'crm_backfill_organizations search': 2,
    'crm_backfill_records search': 140,
    'crm_backfill_read_records search': 30,
  });
});
