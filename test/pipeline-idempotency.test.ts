// Idempotency keys: what is replayed, byte for byte, to whom, for how long, and what is not kept.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { expectRefusal, type FaultRow } from './support/envelope.ts';
import { type Harness, type Json, type RequestInput, startHarness } from './support/harness.ts';

let harness: Harness;
let count = 0;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const FAILED = 'VALIDATION_FAILED';
const MISMATCH: FaultRow[] = [['Idempotency-Key', FAILED]];
const DAY_MS = 24 * 60 * 60 * 1_000;

function unique(): string {
  count += 1;
  return `key-${count}`;
}

function keyed(method: string, path: string, key: string, input: RequestInput = {}) {
  return harness.send(method, `/api/v2${path}`, {
    ...input,
    headers: { 'Idempotency-Key': key, ...input.headers },
  });
}

const create = async (resource: string, body: Json): Promise<string> =>
  (await harness.send('POST', `/api/v2/${resource}`, { body })).body.data.id;
const totalOf = async (phone: string): Promise<number> =>
  (await harness.send('GET', `/api/v2/contacts?limit=200&phone=${phone}`)).body.data.length;

type Request = [method: string, path: string, body: Json];

// Each makes a request that has not been made before.
const REPLAYED: Record<string, () => Promise<[status: number, ...Request]>> = {
  'a create': async () => [201, 'POST', '/contacts', { first_name: 'A', phone: unique() }],
  'an update': async () => {
    const id = await create('contacts', { first_name: 'A' });
    return [200, 'PATCH', `/contacts/${id}`, { first_name: 'B' }];
  },
  'a batch with errors': async () => [200, 'POST', '/contacts/batch', [{ first_name: 'A' }, {}]],
  'a link': async () => {
    const [deal, contact] = [
      await create('deals', { name: 'D' }),
      await create('contacts', { first_name: 'A' }),
    ];
    return [200, 'POST', `/deals/${deal}/contacts`, { contact_id: contact }];
  },
  'an interaction': async () => {
    const body = {
      type: 'MEMO',
      direction: 'INTERNAL',
      title: 'T',
      main_contact_email: `${unique()}@i.test`,
    };
    return [201, 'POST', '/interactions', body];
  },
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
    harness.clock.now += DAY_MS - 1;
    expect((await keyed('POST', '/contacts', key, { body })).text).toBe(first.text);
    harness.clock.now += 1;
    const anew = await keyed('POST', '/contacts', key, { body });
    expect([anew.status, anew.headers.get('Idempotent-Replayed')]).toEqual([201, null]);
    expect(await totalOf(phone)).toBe(2);
    expect((await keyed('POST', '/contacts', key, { body })).text).toBe(anew.text);
  });
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

describe('the form of a key', () => {
  const body = { first_name: 'A' };
  const taken = ['k', '!', '~', 'a/b?c=d&e;f,g"h', '0b7d3f0e-9a0f-4a4b-8a2a-8d8a7f9f3b11', 'x'.repeat(255)];
  for (const key of taken) {
    test(`${key.slice(0, 20)} is one`, async () => {
      expect((await keyed('POST', '/contacts', key, { body })).status).toBe(201);
      expect((await keyed('POST', '/contacts', key, { body })).headers.get('Idempotent-Replayed')).toBe(
        'true',
      );
    });
  }
  const refused = ['', 'a b', 'a\tb', 'x'.repeat(256), 'é', 'a, b'];
  for (const key of refused) {
    test(`${JSON.stringify(key.slice(0, 20))} is none`, async () => {
      for (const [method, path] of [
        ['POST', '/contacts'],
        ['PATCH', '/contacts/absent'],
        ['POST', '/contacts/batch'],
        ['POST', '/deals/absent/contacts'],
      ] as const) {
        const code = 'VALIDATION_INVALID_FORMAT';
        expectRefusal(await keyed(method, path, key, { body }), 422, code, [['Idempotency-Key', code]]);
      }
    });
  }
});

describe('whose a key is', () => {
  const body = { first_name: 'A' };
  const replayed = async (key: string, apiKey: string) =>
    (await keyed('POST', '/contacts', key, { body, key: apiKey })).headers.get('Idempotent-Replayed');

  test('two keys of one user share theirs, a rotated or second key included', async () => {
    const [a, b] = [
      await harness.issue({ userId: harness.alice }),
      await harness.issue({ userId: harness.alice }),
    ];
    const key = unique();
    expect(await replayed(key, a.key)).toBeNull();
    expect(await replayed(key, b.key)).toBe('true');
  });

  test('users, organization-wide keys and organizations do not', async () => {
    const callers = await Promise.all([
      harness.issue({ userId: harness.alice }),
      harness.issue({ userId: harness.bob }),
      harness.issue(),
      harness.issue(),
      harness.issue({ orgId: harness.otherOrgId }),
    ]);
    const key = unique();
    for (const { key: apiKey } of callers) expect(await replayed(key, apiKey)).toBeNull();
    for (const { key: apiKey } of callers) expect(await replayed(key, apiKey)).toBe('true');
  });
});

describe('at once', () => {
  test('the second waits and gets the answer of the first', async () => {
    const [key, phone] = [unique(), unique()];
    const send = () => keyed('POST', '/contacts', key, { body: { first_name: 'Twin', phone } });
    const replies = await Promise.all(Array.from({ length: 20 }, send));
    expect(new Set(replies.map((reply) => reply.text)).size).toBe(1);
    expect(replies.filter((reply) => reply.headers.has('Idempotent-Replayed'))).toHaveLength(19);
    expect(await totalOf(phone)).toBe(1);
  });

  test('only the first counts against the rate limit', async () => {
    const limited = await startHarness({ keyLimit: 2 });
    const input = { body: { first_name: 'A' }, headers: { 'Idempotency-Key': 'k' } };
    const send = () => limited.send('POST', '/api/v2/contacts', input);
    const replies = await Promise.all(Array.from({ length: 10 }, send));
    expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([201]));
    await limited.close();
  });

  test('with another body the second is refused', async () => {
    const key = unique();
    const bodies = [{ first_name: 'A' }, { first_name: 'B' }];
    const replies = await Promise.all(bodies.map((body) => keyed('POST', '/contacts', key, { body })));
    expect(replies.map((reply) => reply.status)).toEqual([201, 422]);
  });

  test('when the first is refused, the second is executed', async () => {
    const key = unique();
    const [first, second] = await Promise.all([
      keyed('POST', '/contacts', key, { body: { company_id: 'absent', first_name: 'A' } }),
      keyed('POST', '/contacts', key, { body: { first_name: 'A' } }),
    ]);
    expect([first.status, second.status, second.headers.get('Idempotent-Replayed')]).toEqual([
      422,
      201,
      null,
    ]);
  });

  test('different keys do not wait for each other', async () => {
    const phone = unique();
    const keys = Array.from({ length: 30 }, unique);
    const body = { first_name: 'Many', phone };
    const replies = await Promise.all(keys.map((key) => keyed('POST', '/contacts', key, { body })));
    expect(new Set(replies.map((reply) => reply.body.data.id)).size).toBe(30);
  });
});
