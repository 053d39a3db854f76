// Idempotent replay: what is answered again, byte for byte, for how long, and what is not kept.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { purgeStoredResponses } from '../../db/tables/idempotency.ts';
import { expectRefusal, type FaultRow } from '../support/envelope.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { type Keyed, keyedOf, unique } from '../support/keyed-requests.ts';

let harness: Harness;
let keyed: Keyed['keyed'];
let totalOf: Keyed['totalOf'];
beforeAll(async () => {
  harness = await startHarness();
  ({ keyed, totalOf } = keyedOf(harness));
});
afterAll(() => harness.close());

const FAILED = 'VALIDATION_FAILED';
const MISMATCH: FaultRow[] = [['Idempotency-Key', FAILED]];
const DAY_MS = 24 * 60 * 60 * 1_000;

const create = async (resource: string, body: Json): Promise<string> =>
  (await harness.send('POST', `/api/v2/${resource}`, { body })).body.data.id;

type Request = [method: string, path: string, body: Json];

// Each makes a request that has not been made before; every-write.test.ts has those that succeed.
const REPLAYED: Record<string, () => Promise<[status: number, ...Request]>> = {
  'a batch with errors': async () => [200, 'POST', '/contacts/batch', [{ first_name: 'A' }, {}]],
  'a 404': async () => [404, 'PATCH', '/contacts/absent', { first_name: 'B' }],
  'a 404 of a link': async () => [404, 'POST', '/deals/absent/contacts', { contact_id: 'absent' }],
  'a 409': async () => {
    const email = `${unique()}@taken.test`;
    await create('contacts', { email });
    return [409, 'POST', '/contacts', { email }];
  },
  'a 409 of an update': async () => {
    const domain = `${unique()}.test`;
    await create('companies', { domain });
    return [409, 'PATCH', `/companies/${await create('companies', { name: 'N' })}`, { domain }];
  },
};

describe('replayed', () => {
  for (const [name, prepare] of Object.entries(REPLAYED)) {
    test(name, async () => {
      const [status, method, path, body] = await prepare();
      const key = unique();
      const first = await keyed(method, path, key, { body });
      expect([first.status, first.headers.get('Idempotent-Replayed')]).toEqual([status, null]);
      harness.clock.now += 60_000;
      const again = await keyed(method, path, key, { body });
      expect(again.status).toBe(status);
      expect(again.text).toBe(first.text);
      expect(again.headers.get('Location')).toBe(first.headers.get('Location'));
      expect(again.headers.get('Content-Type')).toBe(first.headers.get('Content-Type'));
      expect(again.headers.get('Idempotent-Replayed')).toBe('true');
      // Its own request id in the header, the stored one in the body.
      expect(again.headers.get('X-Request-Id')).toMatch(/^req_/);
      expect(again.headers.get('X-Request-Id')).not.toBe(first.headers.get('X-Request-Id'));
      expect(again.body.meta.request_id).toBe(first.headers.get('X-Request-Id'));
    });
  }

  test('without doing the work again', async () => {
    const [key, phone] = [unique(), unique()];
    const body = { first_name: 'Once', phone };
    for (let round = 0; round < 3; round++) await keyed('POST', '/contacts', key, { body });
    expect(await totalOf(phone)).toBe(1);
    const batchKey = unique();
    for (let round = 0; round < 3; round++)
      await keyed('POST', '/contacts/batch', batchKey, { body: [body, body] });
    expect(await totalOf(phone)).toBe(3);
  });

  test('even when the record has changed or gone since', async () => {
    const key = unique();
    const body = { first_name: 'Gone' };
    const first = await keyed('POST', '/contacts', key, { body });
    await harness.send('DELETE', `/api/v2/contacts/${first.body.data.id}`);
    expect((await keyed('POST', '/contacts', key, { body })).text).toBe(first.text);
    const missing = unique();
    expect((await keyed('PATCH', '/contacts/absent', missing, { body: {} })).status).toBe(404);
  });

  test('free of the rate limit, with its headers as they are now', async () => {
    const limited = await startHarness({ keyLimit: 2 });
    const input = { body: { first_name: 'A' }, headers: { 'Idempotency-Key': 'free' } };
    const send = () => limited.send('POST', '/api/v2/contacts', input);
    expect((await send()).headers.get('X-RateLimit-Remaining')).toBe('1');
    for (let round = 0; round < 5; round++) {
      expect((await send()).headers.get('X-RateLimit-Remaining')).toBe('1');
    }
    await limited.send('GET', '/api/v2/contacts');
    const spent = await send();
    expect([spent.status, spent.headers.get('X-RateLimit-Remaining')]).toEqual([201, '0']);
    limited.clock.now += 60_000;
    const later = await send();
    expect(later.headers.get('X-RateLimit-Remaining')).toBe('2');
    expect(Number(later.headers.get('X-RateLimit-Reset'))).toBeGreaterThan(limited.clock.now / 1_000);
    await limited.close();
  });

  test('for 24 hours', async () => {
    const [key, phone] = [unique(), unique()];
    const body = { first_name: 'Day', phone };
    const first = await keyed('POST', '/contacts', key, { body });
    // Each request takes a millisecond: this one comes just before the time is over, the next just after.
    harness.clock.now += DAY_MS - 2;
    expect((await keyed('POST', '/contacts', key, { body })).text).toBe(first.text);
    const repeated = await keyed('POST', '/contacts', key, { body });
    expect([repeated.status, repeated.headers.get('Idempotent-Replayed')]).toEqual([201, null]);
    expect(await totalOf(phone)).toBe(2);
    expect((await keyed('POST', '/contacts', key, { body })).text).toBe(repeated.text);
  });
});

test('however much has expired, all of it is cleared away', async () => {
  const old = await startHarness();
  const row = {
    org_id: old.orgNumber,
    principal: 'p',
    fingerprint: 'f',
    status: 201,
    location: null,
    body: '',
  };
  const created_at = old.clock.now - DAY_MS;
  await old.store.write('accounts', async (trx) => {
    for (let index = 0; index < 1_001; index++)
      await trx
        .insertInto('idempotency_keys')
        .values({ ...row, key: `k${index}`, created_at })
        .execute();
  });
  expect(await purgeStoredResponses(old.store, old.clock.now)).toBe(1_001);
  expect(await old.store.read.selectFrom('idempotency_keys').select('key').execute()).toEqual([]);
  await old.close();
});

test('what is older than 24 hours is cleared away, and nothing else', async () => {
  const old = await startHarness();
  const send = (key: string) =>
    old.send('POST', '/api/v2/contacts', { body: { first_name: 'A' }, headers: { 'Idempotency-Key': key } });
  const purge = () => purgeStoredResponses(old.store, old.clock.now);
  const kept = async () =>
    (await old.store.read.selectFrom('idempotency_keys').select('key').execute()).length;
  await Promise.all(['a', 'b', 'c'].map(send));
  // Each request takes a millisecond: the first of them is a day old after the next but one.
  old.clock.now += DAY_MS - 4;
  const young = await send('d');
  expect([await purge(), await kept()]).toEqual([0, 4]);
  old.clock.now += 3;
  expect([await purge(), await kept()]).toEqual([3, 1]);
  expect((await send('d')).text).toBe(young.text);
  await old.close();
});

describe('a key that was used for something else', () => {
  const body = { first_name: 'A' };
  const others: [string, Request | [string, string, undefined, string]][] = [
    ['another body', ['POST', '/contacts', { first_name: 'B' }]],
    ['the same body, spelled differently', ['POST', '/contacts', undefined, '{"first_name": "A"}']],
    ['another path', ['POST', '/companies', body]],
    ['a batch', ['POST', '/contacts/batch', body]],
    ['another method', ['PATCH', '/contacts/absent', body]],
    ['a body that is not valid', ['POST', '/contacts', { nope: 1 }]],
    ['malformed JSON', ['POST', '/contacts', undefined, '{']],
    ['no body', ['POST', '/contacts', undefined, '']],
  ];
  for (const [name, [method, path, otherBody, raw]] of others) {
    test(`${name} is a 422, and the first answer stays`, async () => {
      const key = unique();
      const first = await keyed('POST', '/contacts', key, { body });
      const reply = await keyed(method, path, key, raw === undefined ? { body: otherBody } : { raw });
      expectRefusal(reply, 422, FAILED, MISMATCH);
      expect(reply.headers.get('Idempotent-Replayed')).toBeNull();
      expect((await keyed('POST', '/contacts', key, { body })).text).toBe(first.text);
    });
  }
});

describe('not kept', () => {
  test('a 422, so that the same key serves the corrected request', async () => {
    for (const faulty of ['{"first_name":5}', '{', '{"company_id":"absent","first_name":"A"}']) {
      const key = unique();
      expect((await keyed('POST', '/contacts', key, { raw: faulty })).status).toBe(422);
      const reply = await keyed('POST', '/contacts', key, { body: { first_name: 'A' } });
      expect([reply.status, reply.headers.get('Idempotent-Replayed')]).toEqual([201, null]);
    }
  });

  test('a 401 or 403', async () => {
    const key = unique();
    const body = { first_name: 'A' };
    const { key: reader } = await harness.issue({ scopes: ['contacts:read'] });
    expect((await keyed('POST', '/contacts', key, { body, key: null })).status).toBe(401);
    expect((await keyed('POST', '/contacts', key, { body, key: reader })).status).toBe(403);
    expect((await keyed('POST', '/contacts', key, { body })).status).toBe(201);
  });

  test('a 403 of giving a record away', async () => {
    const { key: alices } = await harness.issue({ userId: harness.alice });
    const key = unique();
    const give = { first_name: 'A', owner_id: harness.bob };
    const refused = await keyed('POST', '/contacts', key, { body: give, key: alices });
    expectRefusal(refused, 403, 'OPERATION_FORBIDDEN');
    expect((await keyed('POST', '/contacts', key, { body: { first_name: 'A' }, key: alices })).status).toBe(
      201,
    );
  });

  test('a 429 or 413', async () => {
    const limited = await startHarness({ keyLimit: 1 });
    const send = (raw: string) =>
      limited.send('POST', '/api/v2/contacts', { raw, headers: { 'Idempotency-Key': 'k' } });
    expect((await send(' '.repeat(1024 * 1024 + 1))).status).toBe(413);
    await limited.send('GET', '/api/v2/contacts');
    expect((await send('{"first_name":"A"}')).status).toBe(429);
    limited.clock.now += 60_000;
    const reply = await send('{"first_name":"A"}');
    expect([reply.status, reply.headers.get('Idempotent-Replayed')]).toEqual([201, null]);
    await limited.close();
  });

  test('by the methods and the version that take no key', async () => {
    const key = unique();
    const id = await create('contacts', { first_name: 'A' });
    const headers = { 'Idempotency-Key': key };
    for (const [method, status] of [
      ['GET', 200],
      ['DELETE', 204],
      ['DELETE', 404],
    ] as const) {
      const reply = await harness.send(method, `/api/v2/contacts/${id}`, { headers });
      expect([reply.status, reply.headers.get('Idempotent-Replayed')]).toEqual([status, null]);
    }
    const v1 = { body: { domain: `${key}.test` }, headers };
    expect((await harness.send('POST', '/api/v1/companies', v1)).status).toBe(201);
    expect((await harness.send('POST', '/api/v1/companies', v1)).status).toBe(200);
    const bad = { ...v1, headers: { 'Idempotency-Key': 'not a key' } };
    expect((await harness.send('POST', '/api/v1/companies', bad)).status).toBe(200);
  });
});
