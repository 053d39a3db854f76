// Rate limits: two counters over epoch-aligned minutes, exact under concurrency, told in headers.
import { afterEach, describe, expect, test } from 'bun:test';
import { getOrganization, updateOrganization } from '../../db/accounts/accounts.ts';
import { updateKey } from '../../db/accounts/keys.ts';
import { expectRefusal } from '../support/envelope.ts';
import { type Harness, type Reply, startHarness } from '../support/harness.ts';

const MINUTE_MS = 60_000;
const harnesses: Harness[] = [];

async function start(limits: { keyLimit?: number; orgLimit?: number } = {}): Promise<Harness> {
  const harness = await startHarness(limits);
  harnesses.push(harness);
  // 12.5 s into a minute.
  harness.clock.now = Math.ceil(harness.clock.now / MINUTE_MS) * MINUTE_MS + 12_500;
  return harness;
}
afterEach(async () => {
  for (const harness of harnesses.splice(0)) await harness.close();
});

const get = (harness: Harness, key?: string) => harness.send('GET', '/api/v2/contacts/absent', { key });
const limitsOf = ({ headers }: Reply) =>
  ['Limit', 'Remaining', 'Reset'].map((name) => Number(headers.get(`X-RateLimit-${name}`)));

describe('the limit of a key', () => {
  test('headers count down, and a 429 says when to come back', async () => {
    const harness = await start({ keyLimit: 3 });
    const reset = Math.floor(harness.clock.now / MINUTE_MS + 1) * 60;
    for (const remaining of [2, 1, 0]) {
      const reply = await get(harness);
      expect([reply.status, limitsOf(reply)]).toEqual([404, [3, remaining, reset]]);
    }
    const refused = await get(harness);
    expectRefusal(refused, 429, 'RATE_LIMIT_EXCEEDED');
    expect(limitsOf(refused)).toEqual([3, 0, reset]);
    // 47.5 s are left, told in whole seconds that are enough.
    expect(refused.headers.get('Retry-After')).toBe('48');
  });

  test('it is back with the next minute, not before', async () => {
    const harness = await start({ keyLimit: 1 });
    const minute = Math.floor(harness.clock.now / MINUTE_MS + 1) * MINUTE_MS;
    expect((await get(harness)).status).toBe(404);
    harness.clock.now = minute - 1;
    const refused = await get(harness);
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '1']);
    harness.clock.now = minute;
    expect(limitsOf(await get(harness))).toEqual([1, 0, minute / 1_000 + 60]);
  });

  test('a request that began in the minute before does not bring that minute back', async () => {
    const harness = await start({ keyLimit: 3 });
    const minute = Math.floor(harness.clock.now / MINUTE_MS + 1) * MINUTE_MS;
    harness.clock.now = minute;
    expect(limitsOf(await get(harness))[1]).toBe(2);
    harness.clock.now = minute - 1;
    expect(limitsOf(await get(harness))).toEqual([3, 1, minute / 1_000 + 60]);
    harness.clock.now = minute;
    expect(limitsOf(await get(harness))[1]).toBe(0);
  });

  test('each key has its own', async () => {
    const harness = await start({ keyLimit: 1 });
    const other = await harness.issue();
    expect((await get(harness)).status).toBe(404);
    expect((await get(harness)).status).toBe(429);
    expect((await get(harness, other.key)).status).toBe(404);
    expect((await harness.send('GET', '/api/v1/authenticate')).status).toBe(200);
  });

  test('every kind of answer after the check counts and tells, every refusal before it does neither', async () => {
    const harness = await start({ keyLimit: 100 });
    const scoped = await harness.issue({ scopes: ['contacts:read'] });
    const rows: [number, string, string, object][] = [
      [200, 'GET', '/api/v2/contacts', {}],
      [200, 'HEAD', '/api/v2/contacts', {}],
      [201, 'POST', '/api/v2/contacts', { body: { email: 'a@b.co' } }],
      [409, 'POST', '/api/v2/contacts', { body: { email: 'a@b.co' } }],
      [404, 'DELETE', '/api/v2/contacts/absent', {}],
      [422, 'POST', '/api/v2/contacts', { body: {} }],
      [422, 'GET', '/api/v2/contacts?nope=1', {}],
      [200, 'POST', '/api/v2/contacts/batch', { body: [{}, {}, {}] }],
    ];
    let remaining = 100;
    for (const [status, method, path, input] of rows) {
      const reply = await harness.send(method, path, input);
      remaining -= 1;
      expect([reply.status, limitsOf(reply)[1]]).toEqual([status, remaining]);
    }
    const silent: [number, string, string, object][] = [
      [401, 'GET', '/api/v2/contacts', { key: null }],
      [401, 'GET', '/api/v2/contacts', { key: 'wrong' }],
      [403, 'POST', '/api/v2/contacts', { key: scoped.key, body: {} }],
      [404, 'GET', '/api/v2/nothing', {}],
      [405, 'PUT', '/api/v2/contacts', {}],
      [413, 'POST', '/api/v2/contacts', { raw: ' '.repeat(1024 * 1024 + 1) }],
    ];
    for (const [status, method, path, input] of silent) {
      const reply = await harness.send(method, path, input);
      expect([reply.status, reply.headers.get('X-RateLimit-Remaining')]).toEqual([status, null]);
    }
    expect(limitsOf(await get(harness))[1]).toBe(remaining - 1);
    expect(limitsOf(await get(harness, scoped.key))[1]).toBe(99);
  });
});

describe('limits that are set for a key or an organization', () => {
  const told = async (harness: Harness, key?: string) => {
    const reply = await harness.send('GET', '/api/v2/authenticate', { key });
    return [reply.body.data.key.requests_per_minute, ...limitsOf(reply).slice(0, 2)];
  };

  test('replace that of the server, above it and below, and the key is told', async () => {
    const harness = await start({ keyLimit: 3, orgLimit: 10 });
    const more = await harness.issue({ requestsPerMinute: 5 });
    const less = await harness.issue({ requestsPerMinute: 1 });
    expect(await told(harness, more.key)).toEqual([5, 5, 4]);
    expect(await told(harness, less.key)).toEqual([1, 1, 0]);
    const refused = await get(harness, less.key);
    expectRefusal(refused, 429, 'RATE_LIMIT_EXCEEDED');
    expect(refused.body.error.message).toContain('The limit of 1 request per minute');
    expect(await told(harness)).toEqual([3, 3, 2]);
  });

  test('change with the next request; that of the organization holds for a key that may send more', async () => {
    const harness = await start({ keyLimit: 3, orgLimit: 4 });
    const { store, orgNumber } = harness;
    const { key, id } = await harness.issue();
    const change = (requestsPerMinute: number | null) =>
      store.write('accounts', (trx) => updateKey(trx, { org_id: orgNumber, id }, { requestsPerMinute }));
    const changeAll = (requestsPerMinute: number | null) =>
      store.write('accounts', async (trx) =>
        updateOrganization(trx, await getOrganization(trx, orgNumber), { requestsPerMinute }),
      );
    expect(await told(harness, key)).toEqual([3, 3, 2]);
    await change(100);
    expect(await told(harness, key)).toEqual([4, 4, 2]);
    await changeAll(7);
    expect(await told(harness, key)).toEqual([7, 7, 4]);
    // A key that is issued now has it too.
    expect(await told(harness, (await harness.issue({ requestsPerMinute: 9 })).key)).toEqual([7, 7, 3]);
    await changeAll(4);
    expect((await get(harness, key)).status).toBe(429);
    await changeAll(null);
    await change(null);
    harness.clock.now += MINUTE_MS;
    expect(await told(harness, key)).toEqual([3, 3, 2]);
  });
});

describe('the limit of an organization', () => {
  test('is shared by its keys of both versions, and headers describe the tighter of the two', async () => {
    const harness = await start({ keyLimit: 5, orgLimit: 6 });
    const other = await harness.issue();
    const foreign = await harness.issue({ orgNumber: harness.otherOrgNumber });
    const steps: [string | undefined, string, [number, number]][] = [
      [undefined, '/api/v2/contacts', [5, 4]],
      [undefined, '/api/v2/contacts', [5, 3]],
      [undefined, '/api/v1/authenticate', [6, 3]],
      [undefined, '/api/v1/authenticate', [6, 2]],
      [other.key, '/api/v2/contacts', [6, 1]],
      [foreign.key, '/api/v2/contacts', [5, 4]],
      [other.key, '/api/v2/contacts', [6, 0]],
    ];
    for (const [key, path, [limit, remaining]] of steps) {
      const reply = await harness.send('GET', path, { key });
      expect([reply.status, ...limitsOf(reply).slice(0, 2)]).toEqual([200, limit, remaining]);
    }
    for (const key of [undefined, other.key]) {
      const refused = await get(harness, key);
      expectRefusal(refused, 429, 'RATE_LIMIT_EXCEEDED');
      expect(limitsOf(refused).slice(0, 2)).toEqual([6, 0]);
    }
    expect((await get(harness, foreign.key)).status).toBe(404);
  });

  test('a 429 of the organization does not count against the key, nor the other way round', async () => {
    const harness = await start({ keyLimit: 3, orgLimit: 4 });
    const [a, b] = [await harness.issue(), await harness.issue()];
    for (let count = 0; count < 3; count++) expect((await get(harness, a.key)).status).toBe(404);
    // These do not count against the organization: one is left for b.
    for (let count = 0; count < 5; count++) expect((await get(harness, a.key)).status).toBe(429);
    expect((await get(harness, b.key)).status).toBe(404);
    expect((await get(harness, b.key)).status).toBe(429);
  });

  test('by default it is 1,000 over several keys of 200', async () => {
    const harness = await startDefault();
    const keys = await Promise.all(Array.from({ length: 6 }, () => harness.issue()));
    const replies = await Promise.all(
      keys.flatMap(({ key }) => Array.from({ length: 190 }, () => get(harness, key))),
    );
    const admitted = replies.filter((reply) => reply.status === 404);
    expect([admitted.length, replies.length]).toEqual([1_000, 1_140]);
    expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([404, 429]));
  });
});

/** With the limits that the contract names. */
function startDefault(): Promise<Harness> {
  return start({ keyLimit: 200, orgLimit: 1_000 });
}

describe('exact under concurrency', () => {
  test('1,000 requests at once on one key admit 200', async () => {
    const harness = await startDefault();
    const replies = await Promise.all(Array.from({ length: 1_000 }, () => get(harness)));
    const admitted = replies.filter((reply) => reply.status === 404);
    expect(admitted).toHaveLength(200);
    expect(replies.filter((reply) => reply.status === 429)).toHaveLength(800);
    const remaining = admitted.map((reply) => limitsOf(reply)[1] ?? -1).sort((a, b) => a - b);
    expect(remaining).toEqual(Array.from({ length: 200 }, (_, index) => index));
  });

  test('1,000 creates at once on one key write 200', async () => {
    const harness = await startDefault();
    const body = { first_name: 'Crowd' };
    await Promise.all(
      Array.from({ length: 1_000 }, () => harness.send('POST', '/api/v2/contacts', { body })),
    );
    let total = 0;
    let query = 'limit=200';
    for (let more = true; more; ) {
      harness.clock.now += MINUTE_MS;
      const page = (await harness.send('GET', `/api/v2/contacts?${query}`)).body;
      total += page.data.length;
      more = page.page_info.has_next_page;
      query = `limit=200&cursor=${page.page_info.end_cursor}`;
    }
    expect(total).toBe(200);
  });

  test('a body that is slow to come belongs to the minute in which it is let in', async () => {
    const harness = await start({ keyLimit: 2 });
    const body = Promise.withResolvers<void>();
    const stream = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await body.promise;
        controller.enqueue(Buffer.from('{"first_name":"Slow"}'));
        controller.close();
      },
    });
    const headers = { Authorization: `Bearer ${harness.v2}`, 'Content-Type': 'application/json' };
    const slow = harness.handle(
      new Request('http://localhost/api/v2/contacts', { method: 'POST', headers, body: stream }),
    );
    harness.clock.now += MINUTE_MS;
    expect((await get(harness)).status).toBe(404);
    body.resolve();
    const reply = await slow;
    expect([reply.status, reply.headers.get('X-RateLimit-Remaining')]).toEqual([201, '0']);
    expect((await get(harness)).status).toBe(429);
  });
});
