// The tables of webhooks: what goes with one, what is kept of deliveries, and secrets that only their webhook opens.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { WebhookRow } from '../../db/engine/webhook-rows.ts';
import { recordId } from '../../db/tables/record-id.ts';
import {
  finishPing,
  insertDeliveries,
  listDeliveries,
  purgeDeliveries,
} from '../../db/webhooks/deliveries.ts';
import {
  findWebhookWork,
  listPendingPings,
  releaseLease,
  renewLease,
  takeLease,
} from '../../db/webhooks/leases.ts';
import {
  countWaiting,
  deletePass,
  insertPass,
  insertWaiting,
  listPasses,
  listWaiting,
} from '../../db/webhooks/queue.ts';
import {
  deleteWebhook,
  disableWebhook,
  findWebhook,
  insertWebhook,
  updateWebhook,
} from '../../db/webhooks/webhooks.ts';
import { openWebhookSecret, sealWebhookSecret } from '../../server/signing/webhook-secrets.ts';
import { newWebhookSecret } from '../../server/webhooks/signature.ts';
import { type Harness, startHarness } from '../support/harness.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const addWebhook = async (): Promise<WebhookRow> => {
  const row: WebhookRow = {
    org_id: harness.orgNumber,
    id: recordId(Date.now()),
    url: 'https://example.com/hook',
    events: '["*"]',
    description: null,
    is_enabled: 1,
    disabled_reason: null,
    key_number: 1,
    user_id: null,
    secret: 'sealed',
    previous_secret: null,
    previous_secret_until: null,
    place: 0,
    epoch: '',
    skipped_at: null,
    failing_since: null,
    last_success_at: null,
    lease_holder: null,
    lease_until: null,
    created_at: 1,
    updated_at: 1,
  };
  await harness.store.write(row.org_id, (trx) => insertWebhook(trx, row));
  return row;
};

const deliveryOf = ({ org_id, id }: WebhookRow, at: number, outcome = 'delivered') => ({
  org_id,
  webhook_id: id,
  id: recordId(at),
  sequence: outcome === 'pending' ? null : 1,
  type: outcome === 'pending' ? 'ping' : 'contacts.created',
  attempt: 1,
  at,
  ms: 12,
  status: 200,
  outcome,
  next_attempt_at: null,
});

const addDeliveries = (webhook: WebhookRow, ages: readonly number[], now: number) =>
  harness.store.write(webhook.org_id, (trx) =>
    insertDeliveries(
      trx,
      ages.map((age) => deliveryOf(webhook, now - age)),
    ),
  );

const keyOf = ({ org_id: orgNumber, id }: WebhookRow) => ({ orgNumber, id });

const deliveriesOf = (webhook: WebhookRow) =>
  listDeliveries(harness.store.read, keyOf(webhook), { before: null, limit: 5_000 });

test('deliveries are kept for 30 days, and those of a webhook that is gone no longer', async () => {
  const now = Date.now();
  const [kept, gone] = [await addWebhook(), await addWebhook()];
  await addDeliveries(kept, [...Array.from({ length: 1_500 }, () => 31 * DAY_MS), 29 * DAY_MS, 1], now);
  await addDeliveries(gone, [1, 2], now);
  await harness.store.write(gone.org_id, (trx) => deleteWebhook(trx, keyOf(gone)));
  expect(await purgeDeliveries(harness.store, now)).toBe(1_502);
  expect((await deliveriesOf(kept)).map(({ at }) => now - at)).toEqual([1, 29 * DAY_MS]);
  expect(await deliveriesOf(gone)).toEqual([]);
  expect(await purgeDeliveries(harness.store, now)).toBe(0);
});

test('a ping waits until its outcome is noted', async () => {
  const webhook = await addWebhook();
  const ping = deliveryOf(webhook, Date.now(), 'pending');
  const { store, orgNumber } = harness;
  await store.write(orgNumber, (trx) => insertDeliveries(trx, [ping]));
  expect((await listPendingPings(store.read)).map(({ id }) => id)).toEqual([ping.id]);
  const result = { at: ping.at, ms: 3, status: 500, outcome: 'failed' as const };
  await store.write(orgNumber, (trx) => finishPing(trx, ping, result));
  expect(await listPendingPings(store.read)).toEqual([]);
  expect(await deliveriesOf(webhook)).toEqual([expect.objectContaining({ id: ping.id, ...result })]);
});

test('a replay has a number that no change still waits under', async () => {
  const webhook = await addWebhook();
  const key = keyOf(webhook);
  const { store, orgNumber } = harness;
  const ofPass = { org_id: orgNumber, webhook_id: webhook.id };
  await store.write(orgNumber, async (trx) => {
    expect(await insertPass(trx, key, { place: 0, last: 5 })).toBe(1);
    expect(await insertPass(trx, key, { place: 3, last: 9 })).toBe(2);
    const waiting = { ...ofPass, resource: 0, record: 'a', attempt: 0, next_attempt_at: null };
    await insertWaiting(trx, [
      { ...waiting, pass: 2, sequence: 4 },
      { ...waiting, pass: 0, sequence: 8 },
    ]);
    await deletePass(trx, { ...ofPass, pass: 1 });
    await deletePass(trx, { ...ofPass, pass: 2 });
    expect(await insertPass(trx, key, { place: 3, last: 9 })).toBe(3);
  });
  expect((await listPasses(store.read, key)).map(({ pass }) => pass)).toEqual([3]);
  expect((await listWaiting(store.read, key)).map(({ pass }) => pass)).toEqual([0, 2]);
  expect((await countWaiting(store.read, orgNumber)).get(webhook.id)).toBe(2);
  await store.write(orgNumber, (trx) => deleteWebhook(trx, key));
  expect(await listPasses(store.read, key)).toEqual([]);
  expect(await listWaiting(store.read, key)).toEqual([]);
  expect(await findWebhook(store.read, key)).toBeUndefined();
});

test('a webhook is disabled once, with the reason', async () => {
  const webhook = await addWebhook();
  const disable = () =>
    harness.store.write(webhook.org_id, (trx) => disableWebhook(trx, keyOf(webhook), 'gone', 99));
  expect(await disable()).toBe(true);
  expect(await disable()).toBe(false);
  expect(await findWebhook(harness.store.read, keyOf(webhook))).toMatchObject({
    is_enabled: 0,
    disabled_reason: 'gone',
    updated_at: 99,
  });
});

test('a lease is held until it ends by the clock of the database, or is given back', async () => {
  const webhook = await addWebhook();
  const { store, orgNumber } = harness;
  const take = (holder: string) =>
    store.write(orgNumber, (trx) => takeLease(trx, webhook, { holder, ms: 30_000 }));
  const renew = (holder: string) =>
    store.write(orgNumber, (trx) => renewLease(trx, webhook, { holder, ms: 30_000 }));
  const end = () =>
    store.write(orgNumber, (trx) => updateWebhook(trx, keyOf(webhook), { lease_until: Date.now() - 60_000 }));
  const isLeased = async () =>
    (await findWebhookWork(store.read)).webhooks.find(({ id }) => id === webhook.id)?.is_leased;
  expect([await isLeased(), await renew('one'), await take('one'), await isLeased()]).toEqual([
    0,
    false,
    true,
    1,
  ]);
  const { lease_until: until = null } = (await findWebhook(store.read, keyOf(webhook))) ?? {};
  expect(until).toBeWithin(Date.now() - 60_000, Date.now() + 90_000);
  expect([await take('other'), await renew('other'), await take('one'), await renew('one')]).toEqual([
    ...[false, false, true, true],
  ]);
  await end();
  expect([await isLeased(), await renew('one'), await isLeased()]).toEqual([0, true, 1]);
  await end();
  expect([await take('other'), await renew('one'), await take('one')]).toEqual([true, false, false]);
  await store.write(orgNumber, (trx) => releaseLease(trx, webhook, 'one'));
  expect(await isLeased()).toBe(1);
  await store.write(orgNumber, (trx) => releaseLease(trx, webhook, 'other'));
  expect([await isLeased(), await take('one')]).toEqual([0, true]);
});

test('a secret is opened with the key of the database, for its webhook, unaltered', () => {
  const [key, otherKey] = ['ab'.repeat(32), 'cd'.repeat(32)];
  const secret = newWebhookSecret();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const sealed = sealWebhookSecret(key, secret, 'a');
  expect(sealed).not.toContain(secret.slice(6, 20));
  expect(openWebhookSecret(key, sealed, 'a')).toBe(secret);
  expect(() => openWebhookSecret(otherKey, sealed, 'a')).toThrow();
  expect(() => openWebhookSecret(key, sealed, 'b')).toThrow();
  const altered = Buffer.from(sealed, 'base64');
  altered[altered.length - 1] = (altered.at(-1) ?? 0) ^ 1;
  expect(() => openWebhookSecret(key, altered.toString('base64'), 'a')).toThrow();
});
