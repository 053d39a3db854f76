// Webhooks of a database with several servers: one of them sends, and another continues from there.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import { deleteWebhook, updateWebhook } from '../../db/webhooks/webhooks.ts';
import { FairSlots } from '../../server/webhooks/fair-slots.ts';
import { WebhookRun } from '../../server/webhooks/webhook-run.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { until } from '../support/until.ts';
import { type Client, clientOf } from '../support/v2.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';
import {
  type AddedWebhook,
  addPing,
  addWebhook,
  type Sending,
  type SendingOptions,
  startSending,
} from '../support/webhooks.ts';

let harness: Harness;
let api: Client;
let receiver: WebhookReceiver;
let webhook: AddedWebhook;
let servers: Sending[] = [];

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());
beforeEach(async () => {
  receiver = new WebhookReceiver();
  webhook = await addWebhook(harness, receiver.url);
});
afterEach(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  servers = [];
  await receiver.close();
  await harness.store.write(harness.orgNumber, (trx) => deleteWebhook(trx, keyOf(webhook)));
});

const keyOf = ({ id }: AddedWebhook) => ({ orgNumber: harness.orgNumber, id });
const set = (columns: Parameters<typeof updateWebhook>[2]) =>
  harness.store.write(harness.orgNumber, (trx) => updateWebhook(trx, keyOf(webhook), columns));
const storeParts = () => {
  const { store } = harness;
  return { read: store.read, signals: store.signals, write: store.write.bind(store) };
};
const holder = async () => (await webhook.row()).lease_holder;

class CountedSlots extends FairSlots {
  wanted = 0;

  override take(orgNumber: number): Promise<() => void> {
    this.wanted += 1;
    return super.take(orgNumber);
  }
}

/** A server, once it has looked for the first time. */
async function serverOf(name: string, options: SendingOptions = {}): Promise<Sending> {
  const server = await startSending(harness, { holder: name, ...options });
  servers.push(server);
  await server.dispatcher.look();
  return server;
}

/** Has a server take the lease of another, as if that one had been frozen for as long. */
async function takeFrom(frozen: Sending, other: Sending): Promise<void> {
  const former = await holder();
  frozen.skip(15_000);
  await until(async () => {
    await set({ lease_until: 1 });
    await other.dispatcher.look();
    return (await holder()) !== former;
  });
}

/** Writes changes of one record, and waits until as many have come in all. */
async function change(count: number, total: number): Promise<void> {
  const { id } = await api.create('contacts', { first_name: 'Ada' });
  for (let n = 1; n < count; n++) await api.update('contacts', id, { title: `t${n}` });
  await receiver.wait(total);
  await until(async () => (await webhook.deliveries()).length >= total);
}

test('one server sends until it stops, and then the other', async () => {
  const [one, other] = [await serverOf('one'), await serverOf('other')];
  expect(await holder()).toBe('one');
  await change(3, 3);
  await one.stop();
  await other.dispatcher.look();
  expect(await holder()).toBe('other');
  await change(3, 6);
  expect(receiver.sequences).toEqual([...new Set(receiver.sequences)]);
  await other.stop();
  expect(await webhook.row()).toMatchObject({ lease_holder: null, lease_until: null });
});

test('a server whose clock is ahead does not take a lease that still holds', async () => {
  await serverOf('one');
  const other = await serverOf('other');
  await other.forward(60 * 60_000);
  expect(await holder()).toBe('one');
});

test('a lease that was lost and is free again is begun with what the other server stored', async () => {
  const [one, other] = [await serverOf('one'), await serverOf('other')];
  await takeFrom(one, other);
  await change(5, 5);
  await other.stop();
  await until(async () => {
    await one.dispatcher.look();
    return (await holder()) === 'one';
  });
  await change(5, 10);
  const inOrder = receiver.sequences.toSorted((a, b) => a - b);
  expect(receiver.sequences).toEqual(inOrder);
  expect(new Set(inOrder).size).toBe(10);
});

test('a server whose lease another has taken stores nothing, whatever it had under way', async () => {
  const { promise, resolve } = Promise.withResolvers<Response>();
  receiver.answer = (_, index) => (index === 0 ? promise : new Response(null, { status: 204 }));
  const [one, other] = [await serverOf('one'), await serverOf('other')];
  const { place } = await webhook.row();
  await api.create('contacts', { first_name: 'Ada' });
  await receiver.wait(1);
  await takeFrom(one, other);
  await receiver.wait(2);
  await until(async () => (await webhook.row()).place === place + 1);
  resolve(new Response(null, { status: 500 }));
  await one.dispatcher.look();
  await one.stop();
  expect((await webhook.deliveries()).map(({ outcome }) => outcome)).toEqual(['delivered']);
  expect(await webhook.row()).toMatchObject({ lease_holder: 'other', place: place + 1 });
});

test('what had to wait for its turn beyond the lease is not sent', async () => {
  const slots = new CountedSlots({ all: 1, organization: 1 });
  const giveBack = await slots.take(harness.orgNumber);
  const one = await serverOf('one', { slots });
  await api.create('contacts', { first_name: 'Ada' });
  await until(() => slots.wanted === 2);
  await set({ lease_holder: 'other', lease_until: Date.now() + 60 * 60_000 });
  one.skip(15_000);
  giveBack();
  (await slots.take(harness.orgNumber))();
  expect(receiver.received).toEqual([]);
});

test('a server that ends before it could read where to continue stores no place', async () => {
  const row = await webhook.row();
  await set({ place: row.place + 5 });
  const read = new Proxy(harness.store.read, {
    get: () => {
      throw new Error('The database cannot be read.');
    },
  });
  const parts = { store: { ...storeParts(), read }, holder: '', now: Date.now, uptime: performance.now };
  const run = new WebhookRun(parts as never, row, false);
  await run.stop(0);
  expect((await webhook.row()).place).toBe(row.place + 5);
});

test('a ping that ends while a lease is renewed is not sent again', async () => {
  const { promise: isAnswered, resolve: answer } = Promise.withResolvers<void>();
  receiver.answer = () => isAnswered.then(() => new Response(null, { status: 204 }));
  const { write, ...parts } = storeParts();
  const held = Promise.withResolvers<void>();
  let renewal: PromiseWithResolvers<void> | null = null;
  const holding: typeof write = async (scope, job) => {
    const mine = renewal;
    renewal = null;
    mine?.resolve();
    if (mine !== null) await held.promise;
    return write(scope, job);
  };
  const server = await serverOf('one', { store: { ...parts, write: holding } });
  await addPing(harness, webhook);
  await server.dispatcher.look();
  await receiver.wait(1);
  server.skip(11_000);
  const renewing = Promise.withResolvers<void>();
  renewal = renewing;
  const looking = server.dispatcher.look();
  await renewing.promise;
  answer();
  await until(async () => (await webhook.deliveries()).every(({ outcome }) => outcome === 'delivered'));
  held.resolve();
  await looking;
  await server.stop();
  expect(receiver.received.length).toBe(1);
});

test('an organization that cannot be written to does not hold up the others', async () => {
  const { store, otherOrgNumber } = harness;
  const stuck = await addWebhook(harness, receiver.url, { org_id: otherOrgNumber });
  const write: typeof store.write = (scope, job) =>
    scope === otherOrgNumber ? new Promise(() => undefined) : store.write(scope, job);
  await serverOf('one', { store: { ...storeParts(), write } });
  await change(2, 2);
  expect(await holder()).toBe('one');
  await store.write(otherOrgNumber, (trx) => deleteWebhook(trx, { orgNumber: otherOrgNumber, id: stuck.id }));
});
