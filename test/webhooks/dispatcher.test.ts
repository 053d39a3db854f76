// The sending of webhooks: what arrives, in which order, and what happens when a receiver fails.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { Webhook } from 'standardwebhooks';
import { findLogState } from '../../db/changes/log-state.ts';
import { instantText } from '../../db/model/instants.ts';
import { insertPass, insertWaiting } from '../../db/webhooks/queue.ts';
import { deleteWebhook, updateWebhook } from '../../db/webhooks/webhooks.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import type { Json } from '../support/json.ts';
import { until } from '../support/until.ts';
import { type Client, clientOf } from '../support/v2.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';
import { type AddedWebhook, addPing, addWebhook, type Sending, startSending } from '../support/webhooks.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let harness: Harness;
let api: Client;
let receiver: WebhookReceiver;
let sending: Sending;

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());
beforeEach(async () => {
  receiver = new WebhookReceiver();
  sending = await startSending(harness);
});
afterEach(async () => {
  await sending.stop();
  await receiver.close();
  const { store, orgNumber } = harness;
  const rows = await store.read.selectFrom('webhooks').select('id').execute();
  for (const { id } of rows) await store.write(orgNumber, (trx) => deleteWebhook(trx, { orgNumber, id }));
});

const status = (code: number, headers: Record<string, string> = {}) =>
  new Response(null, { status: code, headers });
/** A failure that is tried again only when the clock is moved: on a busy machine the usual 5 s are over before. */
const failure = () => status(500, { 'Retry-After': '600' });
const RETRIED = 11 * MINUTE;
const hook = async (given: Parameters<typeof addWebhook>[2] = {}): Promise<AddedWebhook> => {
  const added = await addWebhook(harness, receiver.url, given);
  await sending.dispatcher.look();
  return added;
};
const keyOf = ({ id }: AddedWebhook) => ({ orgNumber: harness.orgNumber, id });
const set = (webhook: AddedWebhook, columns: Parameters<typeof updateWebhook>[2]) =>
  harness.store.write(harness.orgNumber, (trx) => updateWebhook(trx, keyOf(webhook), columns));
/** Milliseconds from the end of an attempt to the next. */
const delayOf = (one?: Awaited<ReturnType<AddedWebhook['deliveries']>>[number]) =>
  (one?.next_attempt_at ?? 0) - (one?.at ?? 0) - (one?.ms ?? 0);
const placed = (webhook: AddedWebhook, sequence: number) =>
  until(async () => (await webhook.row()).place >= sequence);

describe('a change', () => {
  test('is sent signed, in the shape of the feed', async () => {
    const webhook = await hook();
    const { id } = await api.create('contacts', { first_name: 'Grace' });
    await receiver.wait(1);
    const [one] = receiver.received;
    if (one === undefined) throw new Error('nothing came');
    const [change] = (await api.get('/changes?start=now&sort_direction=desc&limit=1')).body.data;
    expect(one.body).toEqual({ type: 'contacts.created', timestamp: change.at, data: change });
    expect(change.record_id).toBe(id);
    expect(new Webhook(webhook.secret).verify(one.text, Object.fromEntries(one.headers) as never)).toEqual(
      one.body,
    );
    expect(one.headers.get('content-type')).toBe('application/json');
    await until(async () => (await webhook.deliveries()).length === 1);
    expect(await webhook.deliveries()).toEqual([
      {
        ...{ org_id: harness.orgNumber, webhook_id: webhook.id, id: expect.any(String) },
        ...{ sequence: change.sequence, type: 'contacts.created', attempt: 1, at: expect.any(Number) },
        ...{ ms: expect.any(Number), status: 204, outcome: 'delivered', next_attempt_at: null },
      },
    ]);
    const row = await webhook.row();
    expect(row.last_success_at).toBeGreaterThan(0);
    expect(row.failing_since).toBeNull();
    expect(sending.stats.attempts.get('delivered')).toBe(1);
  });

  test('comes once to each webhook that subscribes to it', async () => {
    await hook({ events: '["contacts.updated", "deals.*"]' });
    const contact = await api.create('contacts', { first_name: 'Ada' });
    const deal = await api.create('deals', { name: 'Engine' });
    await api.create('companies', { name: 'Analytical' });
    await api.update('contacts', contact.id, { first_name: 'Augusta' });
    await api.update('deals', deal.id, { name: 'Difference engine' });
    await receiver.wait(3);
    await Bun.sleep(100);
    expect(receiver.received.map(({ body }) => body.type).toSorted()).toEqual([
      'contacts.updated',
      'deals.created',
      'deals.updated',
    ]);
  });

  test('over 64 KiB comes without its values', async () => {
    await hook();
    const text = 'ä'.repeat(40_000);
    const { id } = await api.create('notes', { title: 'Long', content: text });
    await receiver.wait(1);
    const { body, text: sent } = receiver.received[0] ?? {};
    expect(sent?.length).toBeLessThan(2_000);
    expect(body?.data).toMatchObject({
      record_id: id,
      before: null,
      after: null,
      record: null,
      truncated: true,
    });
    expect(body?.type).toBe('notes.created');
  });

  test('is signed with both secrets after a rotation, for as long as the previous one holds', async () => {
    const webhook = await hook();
    const other = await addWebhook(harness, receiver.url, { is_enabled: 0 });
    const { secret } = await webhook.row();
    await set(webhook, { previous_secret: secret, previous_secret_until: Date.now() + HOUR });
    await sending.dispatcher.look();
    await api.create('contacts', { first_name: 'Ada' });
    await receiver.wait(1);
    expect(receiver.received[0]?.headers.get('webhook-signature')?.split(' ').length).toBe(2);
    await set(webhook, { previous_secret_until: Date.now() - 1 });
    await sending.dispatcher.look();
    await api.create('contacts', { first_name: 'Ada' });
    await receiver.wait(2);
    expect(receiver.received[1]?.headers.get('webhook-signature')?.split(' ').length).toBe(1);
    expect(await other.deliveries()).toEqual([]);
  });

  test('of a user is seen by the webhooks of that user alone, without a sequence number', async () => {
    const { id: keyId } = await harness.issue({ userId: harness.alice });
    const key = await harness.store.read
      .selectFrom('api_keys')
      .select('number')
      .where('id', '=', keyId)
      .executeTakeFirstOrThrow();
    await hook({ key_number: key.number, user_id: harness.alice });
    await api.create('contacts', { first_name: 'Bobs', owner_id: harness.bob });
    const mine = await api.create('contacts', { first_name: 'Mine', owner_id: harness.alice });
    await receiver.wait(1);
    await Bun.sleep(100);
    expect(receiver.received.map(({ body }) => [body.data.record_id, body.data.sequence])).toEqual([
      [mine.id, null],
    ]);
  });
});

describe('order', () => {
  test('holds for each record, with eight requests under way at most', async () => {
    receiver.answer = async () => {
      await Bun.sleep(Math.random() * 10);
      return status(204);
    };
    const webhook = await hook();
    const ids = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => (await api.create('contacts', { first_name: `c${n}` })).id),
    );
    for (let round = 0; round < 5; round++)
      await Promise.all(ids.map((id) => api.update('contacts', id, { title: `t${round}` })));
    await receiver.wait(120);
    const bySequence = Map.groupBy(receiver.received, ({ body }) => body.data.record_id);
    for (const changes of bySequence.values()) {
      const sequences = changes.map(({ body }) => body.data.sequence);
      expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
    }
    expect(new Set(receiver.sequences).size).toBe(120);
    expect(Math.max(...receiver.received.map(({ underWay }) => underWay))).toBeWithin(2, 9);
    await placed(webhook, Math.max(...receiver.sequences));
    expect(await webhook.waiting()).toBe(0);
    expect((await webhook.deliveries()).length).toBe(120);
  });

  test('a change waits for an earlier one of its record, and others do not', async () => {
    const failing = await api.create('contacts', { first_name: 'Failing' });
    receiver.answer = ({ body }, index) =>
      body.data.record_id === failing.id && index < 2 ? failure() : status(204);
    const webhook = await hook();
    await api.update('contacts', failing.id, { title: 'one' });
    await api.update('contacts', failing.id, { title: 'two' });
    const other = await api.create('contacts', { first_name: 'Other' });
    await receiver.wait(2);
    await until(async () => (await webhook.waiting()) === 2);
    const waiting = receiver.received.map(({ body }) => body.data.record_id);
    expect(waiting.toSorted()).toEqual([failing.id, other.id].toSorted());
    const { failing_since: failingSince } = await webhook.row();
    expect(failingSince === null || failingSince > 0).toBe(true);
    receiver.answer = () => status(204);
    await sending.forward(RETRIED);
    await receiver.wait(4);
    const [first, , ...rest] = receiver.received.filter(({ body }) => body.data.record_id === failing.id);
    expect(rest.length).toBe(1);
    const retried = receiver.received.filter(({ id }) => id === first?.id);
    expect(retried.length).toBe(2);
    const titles = receiver.received
      .filter(({ body }) => body.data.record_id === failing.id)
      .map(({ body }) => body.data.after.title);
    expect(titles).toEqual(['one', 'one', 'two']);
    await until(async () => (await webhook.waiting()) === 0);
    expect((await webhook.row()).failing_since).toBeNull();
  });
});

describe('a receiver that fails', () => {
  test('gets a change ten times over three days, with the same ID, and then no more', async () => {
    // The first delay, which by itself is over soon on a busy machine, is as long as the receiver asks for.
    receiver.answer = () => status(500, { 'Retry-After': '120' });
    const webhook = await hook();
    await api.create('contacts', { first_name: 'Ada' });
    const delays = [
      2 * MINUTE,
      5 * MINUTE,
      30 * MINUTE,
      ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR),
    ];
    for (const [index, delay] of delays.entries()) {
      await receiver.wait(index + 1);
      await until(async () => (await webhook.deliveries()).length === index + 1);
      const [last] = await webhook.deliveries();
      expect(last).toMatchObject({ attempt: index + 1, status: 500, outcome: 'failed' });
      expect(delayOf(last)).toBeWithin(delay * 0.9, delay * 1.1 + 1_000);
      expect(await webhook.waiting()).toBe(1);
      await sending.forward(delay * 0.8);
      expect(receiver.received.length).toBe(index + 1);
      await sending.forward(delay * 0.4);
    }
    await receiver.wait(10);
    await until(async () => (await webhook.waiting()) === 0);
    const [last] = await webhook.deliveries();
    expect(last).toMatchObject({ attempt: 10, next_attempt_at: null });
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
    expect(sending.stats.givenUp).toBe(1);
    expect(await webhook.row()).toMatchObject({ is_enabled: 1, failing_since: null });
    await sending.forward(2 * DAY);
    expect(receiver.received.length).toBe(10);
  });

  test('can ask to wait longer', async () => {
    receiver.answer = () => status(503, { 'Retry-After': '3600' });
    const webhook = await hook();
    await api.create('contacts', { first_name: 'Ada' });
    await receiver.wait(1);
    await until(async () => (await webhook.deliveries()).length === 1);
    const [last] = await webhook.deliveries();
    expect(delayOf(last)).toBeWithin(HOUR, HOUR + 1_000);
  });

  test('with 410 is disabled at once', async () => {
    receiver.answer = () => status(410);
    const webhook = await hook();
    await api.create('contacts', { first_name: 'Ada' });
    await until(async () => (await webhook.row()).is_enabled === 0);
    expect(await webhook.row()).toMatchObject({ disabled_reason: 'gone' });
    expect(sending.disabled).toEqual([`${webhook.id} gone`]);
    expect(await webhook.deliveries()).toMatchObject([{ outcome: 'gone', next_attempt_at: null }]);
    await api.create('contacts', { first_name: 'Grace' });
    await sending.forward(HOUR);
    expect(receiver.received.length).toBe(1);
    // Enabled again, it continues at its place, with what waited.
    receiver.answer = () => status(204);
    await set(webhook, { is_enabled: 1, disabled_reason: null });
    await sending.forward(HOUR);
    await receiver.wait(3);
    await until(async () => (await webhook.waiting()) === 0);
  });

  test('is disabled after five days without success, while something waits', async () => {
    receiver.answer = failure;
    const webhook = await hook();
    const { id } = await api.create('contacts', { first_name: 'Ada' });
    await until(async () => (await webhook.waiting()) === 1);
    expect((await webhook.row()).failing_since).toBeGreaterThan(0);
    await api.update('contacts', id, { title: 'later' });
    await sending.forward(4 * DAY);
    await receiver.wait(2);
    await until(async () => (await webhook.deliveries()).length === 2);
    expect((await webhook.row()).is_enabled).toBe(1);
    await sending.forward(2 * DAY);
    await until(async () => (await webhook.row()).is_enabled === 0);
    expect(await webhook.row()).toMatchObject({ disabled_reason: 'failing' });
  });

  test('holds up no other webhook', async () => {
    const timeoutMs = 2_000;
    await sending.stop();
    sending = await startSending(harness, { timeoutMs });
    const silent = new WebhookReceiver();
    silent.answer = () => new Promise(() => undefined);
    const begunAt = performance.now();
    const bad = await addWebhook(harness, silent.url);
    await hook();
    await Promise.all(Array.from({ length: 30 }, (_, n) => api.create('contacts', { first_name: `c${n}` })));
    await receiver.wait(30);
    await silent.wait(8);
    const { length } = silent.received;
    // On a busy machine the first ones can have timed out, and each makes room for another.
    const rounds = 1 + Math.floor((performance.now() - begunAt) / timeoutMs);
    expect(length).toBeLessThanOrEqual(8 * rounds);
    await until(async () => (await bad.deliveries()).some(({ outcome }) => outcome === 'timeout'));
    await sending.stop();
    await silent.close();
  });

  test('of more than a thousand changes stands still at its place, and continues', async () => {
    receiver.answer = failure;
    const webhook = await hook();
    const { place } = await webhook.row();
    for (let batch = 0; batch < 12; batch++)
      await api.batch(
        '/contacts/batch',
        Array.from({ length: 100 }, (_, n) => ({ first_name: `c${n}` })),
      );
    await until(async () => (await webhook.waiting()) === 1_000);
    await Bun.sleep(500);
    expect(await webhook.waiting()).toBe(1_000);
    expect((await webhook.row()).place).toBe(place + 1_000);
    receiver.answer = () => status(204);
    receiver.received.length = 0;
    await sending.forward(HOUR);
    await until(async () => (await webhook.row()).place === place + 1_200 && (await webhook.waiting()) === 0);
    expect(receiver.received.length).toBe(1_200);
    expect(new Set(receiver.sequences).size).toBe(1_200);
  }, 300_000);
});

describe('a webhook', () => {
  test('that is disabled, deleted or changed while something is under way', async () => {
    const webhook = await hook();
    receiver.answer = async () => {
      await Bun.sleep(50);
      return status(500);
    };
    await api.create('contacts', { first_name: 'Ada' });
    await receiver.wait(1);
    await set(webhook, { is_enabled: 0 });
    await sending.dispatcher.look();
    await until(async () => (await webhook.deliveries()).length === 1);
    await api.create('contacts', { first_name: 'Grace' });
    await sending.forward(HOUR);
    await Bun.sleep(50);
    expect(receiver.received.length).toBe(1);
    const elsewhere = new WebhookReceiver();
    await set(webhook, { is_enabled: 1, url: elsewhere.url });
    await sending.forward(HOUR);
    await elsewhere.wait(2);
    await harness.store.write(harness.orgNumber, (trx) => deleteWebhook(trx, keyOf(webhook)));
    await sending.dispatcher.look();
    await api.create('contacts', { first_name: 'Mary' });
    await sending.forward(HOUR);
    expect(elsewhere.received.length).toBe(2);
    await elsewhere.close();
  });

  test('sends the next message as clients have changed it, before the dispatcher looks again', async () => {
    const webhook = await hook({ events: '["contacts.*"]' });
    const elsewhere = new WebhookReceiver();
    const { secret } = await webhook.row();
    const path = `/webhooks/${webhook.id}`;
    const patch = async (body: Json) => expect((await api.patch(path, body)).status).toBe(200);
    expect((await api.post(`${path}/rotate`, {})).status).toBe(200);
    await api.create('contacts', { first_name: 'Ada' });
    await receiver.wait(1);
    expect(receiver.received[0]?.headers.get('webhook-signature')?.split(' ').length).toBe(2);
    expect((await webhook.row()).secret).not.toBe(secret);
    await set(webhook, { url: elsewhere.url, updated_at: Date.now() + 1 });
    await api.create('contacts', { first_name: 'Grace' });
    await elsewhere.wait(1);
    await patch({ events: ['deals.*'] });
    await api.create('contacts', { first_name: 'Mary' });
    await api.create('deals', { name: 'Engine' });
    await elsewhere.wait(2);
    expect(elsewhere.received[1]?.body.type).toBe('deals.created');
    await patch({ is_enabled: false });
    await api.create('deals', { name: 'Loom' });
    await Bun.sleep(300);
    await patch({ is_enabled: true });
    await sending.dispatcher.look();
    await elsewhere.wait(3);
    await api.del(path);
    await api.create('deals', { name: 'Mill' });
    await Bun.sleep(300);
    expect([receiver.received.length, elsewhere.received.length]).toEqual([1, 3]);
    await elsewhere.close();
  });

  test('of a revoked or expired key is disabled', async () => {
    for (const [given, columns, reason] of [
      [{}, { revoked_at: Date.now() }, 'key_revoked'],
      [{}, { expires_at: Date.now() - 1 }, 'key_expired'],
    ] as const) {
      const { id: keyId } = await harness.issue(given);
      const { store, orgNumber } = harness;
      const { number } = await store.read
        .selectFrom('api_keys')
        .select('number')
        .where('id', '=', keyId)
        .executeTakeFirstOrThrow();
      const webhook = await hook({ key_number: number });
      await store.write('accounts', (trx) =>
        trx
          .updateTable('api_keys')
          .set(columns)
          .where('org_id', '=', orgNumber)
          .where('id', '=', keyId)
          .execute(),
      );
      await api.create('contacts', { first_name: 'Ada' });
      await until(async () => (await webhook.row()).is_enabled === 0);
      expect(await webhook.row()).toMatchObject({ disabled_reason: reason });
    }
    expect(receiver.received).toEqual([]);
  });

  test('whose place is no longer kept continues at the end, and says so', async () => {
    await api.create('contacts', { first_name: 'Ada' });
    const webhook = await addWebhook(harness, receiver.url, { epoch: 'another' });
    await harness.store.write(harness.orgNumber, (trx) =>
      insertPass(trx, keyOf(webhook), { place: 0, last: 1 }),
    );
    await sending.dispatcher.look();
    await until(async () => (await webhook.row()).skipped_at !== null);
    const { epoch } = await webhook.row();
    expect(epoch).not.toBe('another');
    await api.create('contacts', { first_name: 'Grace' });
    await receiver.wait(1);
    await Bun.sleep(100);
    expect(receiver.received.map(({ body }) => body.data.record.first_name)).toEqual(['Grace']);
  });
});

test('a webhook that is beyond the end of the log, whose last changes were lost, gets those that follow', async () => {
  await api.create('contacts', { first_name: 'Ada' });
  const { last } = await findLogState(harness.store.read, harness.orgNumber);
  const webhook = await addWebhook(harness, receiver.url, { place: last + 2 });
  const key = { org_id: harness.orgNumber, webhook_id: webhook.id };
  const lost = { ...key, pass: 0, sequence: last + 1, resource: 0, record: 'x' };
  await harness.store.write(harness.orgNumber, (trx) =>
    insertWaiting(trx, [{ ...lost, attempt: 1, next_attempt_at: 1 }]),
  );
  await sending.dispatcher.look();
  await until(async () => (await webhook.row()).place === last && (await webhook.waiting()) === 0);
  await api.create('contacts', { first_name: 'Grace' });
  await receiver.wait(1);
  expect(receiver.received.map(({ body }) => body.data.record.first_name)).toEqual(['Grace']);
  expect((await webhook.row()).skipped_at).toBe(null);
});

test('a webhook that is disabled and enabled again at once has what failed tried at once', async () => {
  const webhook = await hook();
  receiver.answer = failure;
  await api.create('contacts', { first_name: 'Ada' });
  const isStored = (attempt: number) =>
    until(async () => (await webhook.deliveries()).length === attempt && (await webhook.waiting()) === 1);
  await isStored(1);
  await sending.forward(RETRIED);
  await isStored(2);
  expect((await webhook.row()).failing_since).toBeGreaterThan(0);
  for (const is_enabled of [false, true]) {
    const { status: code } = await api.patch(`/webhooks/${webhook.id}`, { is_enabled });
    expect(code).toBe(200);
  }
  await sending.dispatcher.look();
  await isStored(3);
});

test('pings are sent once, also to a webhook that is disabled', async () => {
  const [enabled, disabled] = [await hook(), await hook({ is_enabled: 0 })];
  receiver.answer = () => status(500);
  const at = await addPing(harness, enabled);
  await addPing(harness, disabled);
  await sending.dispatcher.look();
  await receiver.wait(2);
  for (const webhook of [enabled, disabled])
    await until(async () => (await webhook.deliveries()).every(({ outcome }) => outcome === 'failed'));
  expect(receiver.received[0]?.body).toEqual({ type: 'ping', timestamp: instantText(at), data: {} });
  expect(receiver.received[0]?.id).not.toBe(receiver.received[1]?.id);
  expect(await enabled.deliveries()).toMatchObject([
    { status: 500, outcome: 'failed', next_attempt_at: null },
  ]);
  await sending.forward(HOUR);
  await Bun.sleep(50);
  expect(receiver.received.length).toBe(2);
});

describe('a replay', () => {
  test('sends again what was sent, with the same IDs', async () => {
    const webhook = await hook();
    const { place } = await webhook.row();
    const contact = await api.create('contacts', { first_name: 'Ada' });
    await api.update('contacts', contact.id, { title: 'one' });
    await receiver.wait(2);
    const { store, orgNumber } = harness;
    await placed(webhook, place + 2);
    await store.write(orgNumber, (trx) => insertPass(trx, keyOf(webhook), { place, last: place + 2 }));
    await sending.dispatcher.look();
    await receiver.wait(4);
    const [one, two, three, four] = receiver.received.map(({ id }) => id);
    expect([three, four]).toEqual([one, two]);
    await until(
      async () => (await store.read.selectFrom('webhook_passes').selectAll().execute()).length === 0,
    );
    expect((await webhook.deliveries()).length).toBe(4);
  });

  test('does not overtake the first pass for a record', async () => {
    receiver.answer = failure;
    const webhook = await hook();
    const { place } = await webhook.row();
    const contact = await api.create('contacts', { first_name: 'Ada' });
    const other = await api.create('contacts', { first_name: 'Other' });
    await until(async () => (await webhook.waiting()) === 2);
    receiver.answer = ({ body }) => (body.data.record_id === contact.id ? failure() : status(204));
    await harness.store.write(harness.orgNumber, (trx) =>
      insertPass(trx, keyOf(webhook), { place, last: place + 2 }),
    );
    await sending.forward(RETRIED);
    await until(() => receiver.received.filter(({ body }) => body.data.record_id === other.id).length === 3);
    // The replay of the first waits behind its second failure.
    const ofFirst = () => receiver.received.filter(({ body }) => body.data.record_id === contact.id).length;
    await until(() => ofFirst() === 2);
    receiver.answer = () => status(204);
    await sending.forward(RETRIED);
    await until(async () => (await webhook.waiting()) === 0);
    expect(ofFirst()).toBe(4);
  });
});

test('after a stop, what was not stored is sent again, with the same ID', async () => {
  let isFirst = true;
  receiver.answer = () => {
    const isSilent = isFirst;
    isFirst = false;
    return isSilent ? new Promise(() => undefined) : status(204);
  };
  const webhook = await hook();
  await api.create('contacts', { first_name: 'Ada' });
  await api.create('contacts', { first_name: 'Grace' });
  await receiver.wait(2);
  await until(() => sending.stats.attempts.get('delivered') === 1);
  await sending.stop(300);
  expect((await webhook.deliveries()).map(({ outcome }) => outcome)).toEqual(['delivered']);
  sending = await startSending(harness);
  await receiver.wait(3);
  expect(receiver.received[2]?.id).toBe(receiver.received[0]?.id);
  await Bun.sleep(200);
  expect(receiver.received.length).toBe(3);
  await until(async () => (await webhook.deliveries()).length >= 2);
});

test('a long stretch of the log is read in pieces, between which others have turns', async () => {
  await sending.stop();
  let inTurn = 0;
  let inTurnMax = 0;
  sending = await startSending(harness, {
    scan: async (_, { from }) => {
      if (inTurn === 0) setImmediate(() => (inTurn = 0));
      inTurnMax = Math.max(inTurnMax, ++inTurn);
      return { changes: [], cursor: from };
    },
  });
  const webhook = await hook();
  const { place } = await webhook.row();
  await api.batch(
    '/contacts/batch',
    Array.from({ length: 100 }, (_, n) => ({ first_name: `c${n}` })),
  );
  await placed(webhook, place + 100);
  expect(inTurnMax).toBeLessThan(4);
});
