// Webhooks while a server takes over, and while what is sent is erased or its organization is removed.
import { afterAll, describe, expect, test } from 'bun:test';
import { isPostgres } from '../support/fresh-databases.ts';
import { startHarness } from '../support/harness.ts';
import { freePort } from '../support/ports.ts';
import { removeOrganization } from '../support/removal.ts';
import { until } from '../support/until.ts';
import { type Received, WebhookReceiver } from '../support/webhook-receiver.ts';
import { type Service, Services } from '../support/webhook-service.ts';
import { addWebhook, startSending } from '../support/webhooks.ts';

const LONG = 300_000;
const HOUR = 60 * 60_000;
const ALLOW = ['--webhooks-allow', '127.0.0.0/8'];
const services = new Services();
afterAll(() => services[Symbol.asyncDispose]());

const answer = (status: number, headers: Record<string, string> = {}) =>
  new Response(null, { status, headers });
const sequenceOf = ({ body }: Received) => Number(body.data.sequence);
const pendingOf = async ({ request }: Service, id: string) =>
  (await request('GET', `/webhooks/${id}`)).body.data.pending_count;

describe.skipIf(isPostgres || process.platform !== 'linux')('a takeover', () => {
  test.each([[[]], [['--readers', '2']]])(
    '%p loses nothing, keeps the order, and repeats what was under way at most',
    async (flags) => {
      const port = String(await freePort());
      const args = [...ALLOW, '--port', port, ...flags];
      const service = await services.start(args);
      const receiver = new WebhookReceiver();
      receiver.answer = async () => {
        await Bun.sleep(20);
        return answer(204);
      };
      const webhook = await service.create('/webhooks', { url: receiver.url, events: ['contacts.*'] });
      const contacts: string[] = [];
      for (let n = 0; n < 12; n++)
        contacts.push((await service.create('/contacts', { first_name: `c${n}` })).id);
      let written = contacts.length;
      let isOver = false;
      const writing = Promise.all(
        contacts.map(async (id) => {
          for (let n = 0; !isOver && n < 500; n++) {
            const { status } = await service.request('PATCH', `/contacts/${id}`, { title: `t${n}` });
            expect(status).toBe(200);
            written += 1;
            await Bun.sleep(20);
          }
        }),
      );
      await receiver.wait(30);
      const former = service.server;
      service.server = await service.sandbox.serve(['--takeover', ...args]);
      const count = receiver.received.length;
      await receiver.wait(count + 30);
      isOver = true;
      await writing;
      expect((await former.stop('SIGCONT')).code).toBe(0);
      await until(async () => (await pendingOf(service, webhook.id)) === 0);
      expect(new Set(receiver.sequences).size).toBe(written);
      expect(receiver.received.length - written).toBeLessThanOrEqual(8);
      for (const some of Map.groupBy(receiver.received, ({ body }) => body.data.record_id).values()) {
        const sequences = some.map(sequenceOf);
        expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
      }
      for (const some of Map.groupBy(receiver.received, sequenceOf).values())
        expect(new Set(some.map(({ id }) => id)).size).toBe(1);
      await service.server.stop();
      await receiver.close();
    },
    LONG,
  );
});

test(
  'what waits for another attempt has nothing of a person who is erased meanwhile',
  async () => {
    const service = await services.start(ALLOW);
    const receiver = new WebhookReceiver();
    receiver.answer = () => answer(503, { 'Retry-After': '3600' });
    const webhook = await service.create('/webhooks', { url: receiver.url, events: ['*'] });
    const ada = await service.create('/contacts', { first_name: 'Ada', email: 'ada@secret.example' });
    await service.request('PATCH', `/contacts/${ada.id}`, { title: 'Ada Secret' });
    const deal = await service.create('/deals', { name: 'Deal of ada@secret.example' });
    await service.request('POST', `/deals/${deal.id}/contacts`, { contact_id: ada.id });
    await service.create('/notes', { title: 'Call', content: 'Write to ada@secret.example' });
    const hasSecret = ({ text }: Received) => /ada@secret|Ada Secret/.test(text);
    await until(async () => (await service.deliveries(webhook.id)).length >= 3);
    expect(receiver.received.some(hasSecret)).toBe(true);
    await service.sandbox.ok(['people', 'erase', 'ada@secret.example', '--org', 'Acme', '--confirm']);
    const before = receiver.received.length;
    receiver.answer = () => answer(204);
    await service.request('PATCH', `/webhooks/${webhook.id}`, { url: `${receiver.url}?again` });
    await until(async () => (await pendingOf(service, webhook.id)) === 0);
    const after = receiver.received.slice(before);
    expect(after.filter(hasSecret).map(({ text }) => text)).toEqual([]);
    const ofAda = after.filter(({ body }) => body.data.record_id === ada.id);
    expect(ofAda.map(({ body }) => [body.type, body.data.before, body.data.record])).toEqual([
      ['contacts.created', null, null],
      ['contacts.updated', null, null],
      ['contacts.deleted', null, null],
    ]);
    await service.server.stop();
    await receiver.close();
  },
  LONG,
);

test('an organization that is removed is sent no more and leaves nothing, and others are served', async () => {
  const harness = await startHarness();
  const { store, orgNumber, otherOrgNumber } = harness;
  const receiver = new WebhookReceiver();
  const elsewhere = new WebhookReceiver();
  const { promise, resolve } = Promise.withResolvers<Response>();
  // Not tried again before the clock is moved.
  receiver.answer = (_, index) => (index === 0 ? answer(500, { 'Retry-After': '600' }) : promise);
  const { key, id } = await harness.issue({ orgNumber: otherOrgNumber });
  const { number } = await store.read
    .selectFrom('api_keys')
    .select('number')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const removed = await addWebhook(harness, receiver.url);
  await addWebhook(harness, elsewhere.url, { org_id: otherOrgNumber, key_number: number });
  const sending = await startSending(harness, { holder: 'one' });
  await sending.dispatcher.look();
  const create = async (as: string) => {
    const { status } = await harness.send('POST', '/api/v2/contacts', {
      key: as,
      body: { first_name: 'Ada' },
    });
    expect(status).toBe(201);
  };
  await create(harness.v2);
  await until(async () => (await removed.waiting()) === 1);
  await create(harness.v2);
  await receiver.wait(2);
  await removeOrganization(harness, orgNumber);
  await sending.forward(11 * 60_000);
  resolve(answer(204));
  await create(key);
  await elsewhere.wait(1);
  await sending.forward(HOUR);
  await sending.stop();
  expect(receiver.received.length).toBe(2);
  expect(sending.disabled).toEqual([]);
  for (const table of [
    'webhooks',
    'webhook_waiting',
    'webhook_passes',
    'webhook_deliveries',
    'changes',
  ] as const) {
    const rows = await store.read
      .selectFrom(table)
      .select('org_id')
      .where('org_id', '=', orgNumber)
      .execute();
    expect([table, rows.length]).toEqual([table, 0]);
  }
  await receiver.close();
  await elsewhere.close();
  await harness.close();
});
