// Webhooks: made, changed and deleted by keys that see what they see; secrets are shown once.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { findKey, revokeKey } from '../../db/accounts/keys.ts';
import type { ApiKeyRow } from '../../db/engine/schema.ts';
import type { WebhookRow } from '../../db/engine/webhook-rows.ts';
import { setChangesDays } from '../../db/removal/change-retention.ts';
import { beginChangesEpoch, getWebhookKey } from '../../db/tables/settings.ts';
import { insertWaiting, listPasses, listWaiting } from '../../db/webhooks/queue.ts';
import {
  type DisabledReason,
  disableWebhook,
  findWebhook,
  updateWebhook,
} from '../../db/webhooks/webhooks.ts';
import { openWebhookSecret } from '../../server/signing/webhook-secrets.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { ABSENT, type Client, clientOf, expectError, expectFault } from '../support/v2.ts';

let harness: Harness;
let api: Client;
beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

const BODY = { url: 'https://example.com/hooks', events: ['contacts.created', 'deals.*'] };
const send = (method: string, path: string, body?: Json, more: Json = {}) =>
  harness.send(method, `/api/v2/webhooks${path}`, { ...(body !== undefined && { body }), ...more });
const made = async (more: Json = {}, key?: string): Promise<Json> => {
  const reply = await send('POST', '', { ...BODY, ...more }, key === undefined ? {} : { key });
  expect([reply.status, reply.text]).toEqual([201, expect.any(String)]);
  return reply.body.data;
};
const get = async (id: string): Promise<Json> => (await send('GET', `/${id}`)).body.data;
const drop = (id: string) => send('DELETE', `/${id}`);
const disableNow = (id: string, reason: DisabledReason) =>
  harness.store.write(harness.orgNumber, (trx) =>
    disableWebhook(trx, { orgNumber: harness.orgNumber, id }, reason, harness.clock.now),
  );
const setRow = (id: string, columns: Parameters<typeof updateWebhook>[2]) =>
  harness.store.write(harness.orgNumber, (trx) =>
    updateWebhook(trx, { orgNumber: harness.orgNumber, id }, columns),
  );
const rowOf = async (id: string) =>
  (await findWebhook(harness.store.read, { orgNumber: harness.orgNumber, id })) as WebhookRow;
const revoke = async (id: string) => {
  const row = (await findKey(harness.store.read, id)) as ApiKeyRow;
  await harness.store.write('accounts', (trx) => revokeKey(trx, row, harness.clock.now));
};
const keyWith = async (scopes: readonly string[], more: Json = {}) =>
  (await harness.issue({ scopes: ['webhooks:read', 'webhooks:write', ...scopes], ...more })).key;

test('is created, listed, shown, changed and deleted', async () => {
  const { secret, ...webhook } = await made({ description: 'For billing' });
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(webhook).toEqual({
    id: expect.any(String),
    ...BODY,
    description: 'For billing',
    is_enabled: true,
    disabled_reason: null,
    key_id: expect.any(String),
    pending_count: 0,
    last_success_at: null,
    skipped_at: null,
    created_at: expect.any(String),
    updated_at: webhook.created_at,
  });
  expect(await get(webhook.id)).toEqual(webhook);
  expect((await send('GET', '')).body.data).toEqual([webhook]);
  const changed = await send('PATCH', `/${webhook.id}`, { description: null, events: ['*'] });
  expect(changed.body.data).toEqual({
    ...webhook,
    description: null,
    events: ['*'],
    updated_at: expect.any(String),
  });
  expect(changed.body.data.updated_at > webhook.updated_at).toBe(true);
  const same = await send('PATCH', `/${webhook.id}`, { events: ['*'], is_enabled: true });
  expect(same.body.data).toEqual(changed.body.data);
  expect((await drop(webhook.id)).status).toBe(204);
  expectError(await send('GET', `/${webhook.id}`), 404, 'RESOURCE_NOT_FOUND');
});

test('at most 20 of an organization', async () => {
  const all: string[] = [];
  for (let count = 0; count < 20; count++) all.push((await made()).id);
  expectFault(await send('POST', '', BODY), 'VALIDATION_OUT_OF_RANGE', '');
  expect((await send('GET', '')).body.data.map(({ id }: Json) => id)).toEqual(all.toReversed());
  const first = await send('GET', '?limit=15');
  expect(first.body.page_info.has_next_page).toBe(true);
  const rest = await send('GET', `?limit=15&cursor=${first.body.page_info.end_cursor}`);
  expect([...first.body.data, ...rest.body.data].map(({ id }: Json) => id)).toEqual(all.toReversed());
  expect(rest.body.page_info.has_next_page).toBe(false);
  for (const id of all) await drop(id);
});

describe('what is refused', () => {
  test.each<[Json, string, string]>([
    [{ url: undefined }, 'VALIDATION_REQUIRED_FIELD', 'url'],
    [{ url: 'http://example.com/' }, 'VALIDATION_FAILED', 'url'],
    [{ url: 'https://example.com:444/' }, 'VALIDATION_FAILED', 'url'],
    [{ url: 'https://ada:secret@example.com/' }, 'VALIDATION_FAILED', 'url'],
    [{ url: 'https://127.0.0.1/' }, 'VALIDATION_FAILED', 'url'],
    [{ url: 'https://[::ffff:10.0.0.1]/' }, 'VALIDATION_FAILED', 'url'],
    [{ url: 'https://169.254.169.254/latest' }, 'VALIDATION_FAILED', 'url'],
    [{ url: `https://example.com/${'x'.repeat(2_048)}` }, 'VALIDATION_OUT_OF_RANGE', 'url'],
    [{ events: undefined }, 'VALIDATION_REQUIRED_FIELD', 'events'],
    [{ events: [] }, 'VALIDATION_OUT_OF_RANGE', 'events'],
    [{ events: Array.from({ length: 101 }, () => '*') }, 'VALIDATION_OUT_OF_RANGE', 'events'],
    [{ events: ['*', 'contacts.made'] }, 'VALIDATION_FAILED', 'events.1'],
    [{ events: ['deals.*', 'deals.*'] }, 'VALIDATION_FAILED', 'events.1'],
    [{ events: [7] }, 'VALIDATION_FAILED', 'events.0'],
    [{ secret: 'whsec_x' }, 'VALIDATION_FAILED', 'secret'],
    [{ description: 'x'.repeat(1_001) }, 'VALIDATION_OUT_OF_RANGE', 'description'],
  ])('%p', async (more, code, path) => {
    const reply = await send('POST', '', { ...BODY, ...more });
    expect(reply.body.error.details.map((detail: Json) => detail.path)).toContain(path);
    expect(reply.status).toBe(422);
    if (reply.body.error.details.length === 1) expectFault(reply, code, path);
    expect(reply.text).not.toContain('secret@');
  });

  test('events without the read scope, and * without any', async () => {
    const key = await keyWith(['contacts:read']);
    await drop((await made({ events: ['contacts.*', '*'] }, key)).id);
    const deals = await send('POST', '', BODY, { key });
    expectError(deals, 403, 'AUTH_INSUFFICIENT_SCOPE');
    expect(deals.body.error.message).toContain('deals:read');
    expectError(
      await send('POST', '', { ...BODY, events: ['*'] }, { key: await keyWith([]) }),
      403,
      'AUTH_INSUFFICIENT_SCOPE',
    );
  });
});

describe('who', () => {
  test('sees all that the key that made it sees may change and use it', async () => {
    const { id } = await made({ events: ['contacts.*'] }, await keyWith(['contacts:read', 'deals:read']));
    const narrow = await keyWith(['contacts:read']);
    expect((await send('GET', `/${id}`, undefined, { key: narrow })).status).toBe(200);
    for (const [method, path, body] of [
      ['PATCH', '', { description: 'x' }],
      ['DELETE', '', undefined],
      ['POST', '/ping', undefined],
      ['POST', '/rotate', undefined],
      ['POST', '/replay', { since: '2020-01-01T00:00:00Z' }],
    ] as const) {
      const reply = await send(method, `/${id}${path}`, body, { key: narrow });
      expectError(reply, 403, 'AUTH_INSUFFICIENT_SCOPE');
      expect(reply.body.error.message).toContain('deals:read');
    }
    const wide = await keyWith(['contacts:read', 'deals:read', 'tasks:read']);
    expect((await send('POST', `/${id}/ping`, undefined, { key: wide })).status).toBe(200);
    // It would never get them, because it sees what the first key sees.
    expectFault(
      await send('PATCH', `/${id}`, { events: ['tasks.*'] }, { key: wide }),
      'VALIDATION_FAILED',
      'events',
    );
    expect((await send('PATCH', `/${id}`, { events: ['deals.*'] }, { key: wide })).status).toBe(200);
    await drop(id);
  });

  test('is bound to a user sees only the webhooks of that user', async () => {
    const alice = (await harness.issue({ userId: harness.alice })).key;
    const alices = await made({}, alice);
    const bob = (await harness.issue({ userId: harness.bob })).key;
    const shared = await made();
    const listed = async (key: string) =>
      (await send('GET', '', undefined, { key })).body.data.map(({ id }: Json) => id);
    expect(await listed(alice)).toEqual([alices.id]);
    expect(await listed(bob)).toEqual([]);
    expect(await listed(harness.v2)).toEqual([shared.id, alices.id]);
    for (const id of [alices.id, shared.id, ABSENT]) {
      for (const [method, path] of [
        ['GET', ''],
        ['PATCH', ''],
        ['DELETE', ''],
        ['POST', '/ping'],
        ['POST', '/rotate'],
        ['GET', '/deliveries'],
      ] as const) {
        const body = method === 'PATCH' ? {} : undefined;
        expectError(await send(method, `/${id}${path}`, body, { key: bob }), 404, 'RESOURCE_NOT_FOUND');
      }
    }
    expect((await send('POST', `/${alices.id}/ping`)).status).toBe(200);
    for (const { id } of [alices, shared]) await drop(id);
  });
});

describe('a secret', () => {
  test('is shown by create and rotate alone, and kept encrypted', async () => {
    const { id, secret } = await made();
    const rotated = (await send('POST', `/${id}/rotate`)).body.data;
    expect(rotated.secret).toMatch(/^whsec_/);
    expect(rotated.secret).not.toBe(secret);
    for (const reply of [
      await send('GET', `/${id}`),
      await send('GET', ''),
      await send('PATCH', `/${id}`, {}),
    ])
      expect(reply.text).not.toContain('whsec_');
    const row = await rowOf(id);
    const key = await getWebhookKey(harness.store.read);
    expect(openWebhookSecret(key, row.secret, id)).toBe(rotated.secret);
    expect(openWebhookSecret(key, row.previous_secret ?? '', id)).toBe(secret);
    const day = 24 * 60 * 60 * 1_000;
    expect((row.previous_secret_until ?? 0) - Date.parse(rotated.updated_at)).toBe(day);
    expect(JSON.stringify(row)).not.toContain(secret.slice(6));
    await drop(id);
  });

  test('is repeated with the response to an idempotency key, but not stored with it', async () => {
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const first = await send('POST', '', BODY, { headers });
    const { id, secret } = first.body.data;
    const again = await send('POST', '', BODY, { headers });
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(again.headers.get('Idempotent-Replayed')).toBe('true');
    expect(again.headers.get('Location')).toBe(first.headers.get('Location'));
    const rotateKey = { 'Idempotency-Key': crypto.randomUUID() };
    const rotated = await send('POST', `/${id}/rotate`, undefined, { headers: rotateKey });
    const repeated = await send('POST', `/${id}/rotate`, undefined, { headers: rotateKey });
    expect(repeated.text).toBe(rotated.text);
    // Also of a webhook that is gone, as every stored response.
    await drop(id);
    expect((await send('POST', '', BODY, { headers })).text).toBe(first.text);
    const rows = await harness.store.read.selectFrom('idempotency_keys').selectAll().execute();
    expect(rows.filter(({ body }) => body.includes(id))).toHaveLength(2);
    for (const one of [secret, rotated.body.data.secret])
      expect(JSON.stringify(rows)).not.toContain(one.slice(6, 30));
  });

  test('of a dry run is of a webhook that does not exist', async () => {
    const reply = await send('POST', '', BODY, { headers: { 'Dry-Run': 'true' } });
    expect(reply.status).toBe(201);
    expectError(await send('GET', `/${reply.body.data.id}`), 404, 'RESOURCE_NOT_FOUND');
  });
});

describe('pending_count', () => {
  const pending = async (id: string) => (await get(id)).pending_count;

  test('counts what it subscribes to after its place, and what waits', async () => {
    const { id } = await made();
    await api.create('companies');
    await api.create('contacts');
    expect(await pending(id)).toBe(1);
    const deal = await api.create('deals');
    await api.patch(`/deals/${deal.id}`, { name: 'Changed' });
    expect(await pending(id)).toBe(3);
    const waiting = { org_id: harness.orgNumber, webhook_id: id, pass: 0, resource: 0, record: 'x' };
    await harness.store.write(harness.orgNumber, (trx) =>
      insertWaiting(trx, [{ ...waiting, sequence: 1, attempt: 1, next_attempt_at: 5 }]),
    );
    expect(await pending(id)).toBe(4);
    await drop(id);
  });

  test('tells a user-bound key nothing of what others change', async () => {
    const alice = (await harness.issue({ userId: harness.alice })).key;
    const { id } = await made({ events: ['*'] }, alice);
    await api.create('tasks');
    expect(await pending(id)).toBe(0);
    await clientOf(harness, alice).create('tasks');
    expect(await pending(id)).toBe(1);
    await drop(id);
  });
});

describe('enabled again', () => {
  test('it goes on at its place, and tries at once what waits', async () => {
    const { id } = await made();
    const { place } = await rowOf(id);
    const later = harness.clock.now + 1_000_000;
    const waiting = { org_id: harness.orgNumber, webhook_id: id, pass: 0, resource: 0, record: 'x' };
    await harness.store.write(harness.orgNumber, (trx) =>
      insertWaiting(trx, [
        { ...waiting, sequence: 1, attempt: 3, next_attempt_at: later },
        { ...waiting, sequence: 2, attempt: 0, next_attempt_at: null },
      ]),
    );
    await setRow(id, { failing_since: 5 });
    await disableNow(id, 'failing');
    expect(await get(id)).toMatchObject({ is_enabled: false, disabled_reason: 'failing' });
    await api.create('contacts');
    const { body } = await send('PATCH', `/${id}`, { is_enabled: true });
    expect(body.data).toMatchObject({
      is_enabled: true,
      disabled_reason: null,
      skipped_at: null,
      pending_count: 3,
    });
    expect(await rowOf(id)).toMatchObject({ place, failing_since: null });
    const [first, second] = await listWaiting(harness.store.read, { orgNumber: harness.orgNumber, id });
    expect(first?.next_attempt_at).toBeLessThan(later);
    expect(second?.next_attempt_at).toBeNull();
    await drop(id);
  });

  test('it begins at the end of the log if its place is no longer kept, and says so', async () => {
    const { id } = await made({ is_enabled: false });
    expect(await get(id)).toMatchObject({ is_enabled: false, disabled_reason: null });
    await harness.store.write('accounts', beginChangesEpoch);
    await api.create('contacts');
    expect(await get(id)).toMatchObject({ pending_count: 0, skipped_at: null });
    const { body } = await send('PATCH', `/${id}`, { is_enabled: true });
    expect(body.data).toMatchObject({ pending_count: 0, skipped_at: body.data.updated_at });
    await api.create('contacts');
    expect((await get(id)).pending_count).toBe(1);
    await drop(id);
  });

  test('after its key was revoked, it sees what the key sees that enabled it', async () => {
    const first = await harness.issue({ scopes: ['webhooks:write', 'contacts:read'] });
    const { id } = await made({ events: ['contacts.*'] }, first.key);
    await revoke(first.id);
    expect(await get(id)).toMatchObject({
      is_enabled: false,
      disabled_reason: 'key_revoked',
      key_id: first.id,
    });
    const second = await harness.issue({ scopes: ['webhooks:write', 'contacts:read', 'deals:read'] });
    const events = ['contacts.*', 'deals.*'];
    const { body } = await send('PATCH', `/${id}`, { is_enabled: true, events }, { key: second.key });
    expect(body.data).toMatchObject({ is_enabled: true, disabled_reason: null, key_id: second.id, events });
    await drop(id);
  });
});

describe('a ping', () => {
  test('is a delivery that waits', async () => {
    const { id } = await made();
    const { body, status } = await send('POST', `/${id}/ping`);
    expect(status).toBe(200);
    expect(body.data).toEqual({
      id: expect.any(String),
      sequence: null,
      type: 'ping',
      attempt: 1,
      at: expect.any(String),
      ms: null,
      status: null,
      outcome: 'pending',
      next_attempt_at: body.data.at,
    });
    await send('POST', `/${id}/ping`);
    const list = await send('GET', `/${id}/deliveries?limit=1`);
    expect(list.body.data).toHaveLength(1);
    const rest = await send('GET', `/${id}/deliveries?limit=1&cursor=${list.body.page_info.end_cursor}`);
    expect(rest.body.data).toEqual([body.data]);
    expect(rest.body.page_info.has_next_page).toBe(false);
    const other = await made();
    expectFault(
      await send('GET', `/${other.id}/deliveries?cursor=${list.body.page_info.end_cursor}`),
      'VALIDATION_INVALID_FORMAT',
      'cursor',
    );
    for (const one of [id, other.id]) await drop(one);
  });
});

describe('a replay', () => {
  const head = async () => (await api.get('/changes?start=now')).body.page_info.head as number;

  test('is of changes since a time, or from one to another', async () => {
    const { id } = await made();
    const before = await head();
    const { created_at } = await api.create('contacts');
    await api.create('deals');
    const since = await send('POST', `/${id}/replay`, { since: created_at });
    expect(since.body.data).toEqual({ from: before + 1, to: before + 2 });
    const range = await send('POST', `/${id}/replay`, { from: before, to: before + 1 });
    expect(range.body.data).toEqual({ from: before, to: before + 1 });
    expect(await listPasses(harness.store.read, { orgNumber: harness.orgNumber, id })).toEqual([
      { org_id: harness.orgNumber, webhook_id: id, pass: 1, place: before, last: before + 2 },
      { org_id: harness.orgNumber, webhook_id: id, pass: 2, place: before - 1, last: before + 1 },
    ]);
    const none = await send('POST', `/${id}/replay`, { since: harness.clock.now + 60_000 });
    expect(none.body.data).toEqual({ from: null, to: null });
    await drop(id);
  });

  test('tells a user-bound key no sequence numbers', async () => {
    const { key } = await harness.issue({ userId: harness.alice });
    const { id } = await made({}, key);
    expect((await send('POST', `/${id}/replay`, { since: '0' }, { key })).body.data).toEqual({
      from: null,
      to: null,
    });
    expectFault(
      await send('POST', `/${id}/replay`, { from: 1, to: 2 }, { key }),
      'VALIDATION_FAILED',
      'from',
    );
    await drop(id);
  });

  test.each<[Json, string, string]>([
    [{}, 'VALIDATION_REQUIRED_FIELD', 'since'],
    [{ from: 1 }, 'VALIDATION_REQUIRED_FIELD', 'to'],
    [{ to: 1 }, 'VALIDATION_REQUIRED_FIELD', 'from'],
    [{ from: 2, to: 1 }, 'VALIDATION_OUT_OF_RANGE', 'to'],
    [{ from: 0, to: 1 }, 'VALIDATION_OUT_OF_RANGE', 'from'],
    [{ from: 1, to: 1_000_000 }, 'VALIDATION_OUT_OF_RANGE', 'to'],
    [{ since: 9_000_000_000_000_000 }, 'VALIDATION_INVALID_FORMAT', 'since'],
    [{ since: 1.5 }, 'VALIDATION_FAILED', 'since'],
    [{ since: '2026-01-01T00:00:00Z', from: 1 }, 'VALIDATION_FAILED', 'since'],
    [{ since: 'yesterday' }, 'VALIDATION_INVALID_FORMAT', 'since'],
  ])('%p is refused', async (body, code, path) => {
    const { id } = await made();
    expectFault(await send('POST', `/${id}/replay`, body), code, path);
    await drop(id);
  });

  test('of a disabled webhook, or beside ten others, is refused', async () => {
    const { id } = await made({ is_enabled: false });
    const again = () => send('POST', `/${id}/replay`, { from: 1, to: 1 });
    expectError(await again(), 409, 'RESOURCE_CONFLICT');
    await send('PATCH', `/${id}`, { is_enabled: true });
    for (let count = 0; count < 10; count++) expect((await again()).status).toBe(200);
    expectError(await again(), 409, 'RESOURCE_CONFLICT');
    await drop(id);
  });
});

test('each action leaves an entry in the audit log, without the URL', async () => {
  const { id } = await made({ description: 'Private' });
  await send('PATCH', `/${id}`, { description: null, url: 'https://example.com/other' });
  await send('POST', `/${id}/rotate`);
  await send('POST', `/${id}/replay`, { from: 1, to: 1 });
  await drop(id);
  const entries = await harness.store.read
    .selectFrom('audit_log')
    .selectAll()
    .where('target_id', '=', id)
    .orderBy('created_at')
    .execute();
  expect(entries.map(({ action, details }) => [action, JSON.parse(details ?? 'null')])).toEqual([
    ['webhook.created', { events: BODY.events }],
    ['webhook.changed', { fields: ['description', 'url'] }],
    ['webhook.rotated', null],
    ['webhook.replayed', { from: 1, to: 1 }],
    ['webhook.deleted', null],
  ]);
  expect(JSON.stringify(entries)).not.toMatch(/example\.com|Private|whsec/);
});

test('without changes there are no webhooks', async () => {
  const { id } = await made();
  const setDays = (days: number) => harness.store.write('accounts', (trx) => setChangesDays(trx, days));
  await setDays(0);
  for (const [method, path, body] of [
    ['GET', '', undefined],
    ['POST', '', BODY],
    ['GET', `/${id}`, undefined],
    ['PATCH', `/${id}`, {}],
    ['POST', `/${id}/ping`, undefined],
    ['GET', `/${id}/deliveries`, undefined],
  ] as const)
    expectError(await send(method, path, body), 404, 'RESOURCE_NOT_FOUND');
  await setDays(30);
  await drop(id);
});
