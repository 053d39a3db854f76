// Dry-Run: a write of version 2 is answered as it would be, and leaves nothing.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { setQuota } from '../support/quota.ts';
import { shapeOf } from '../support/shapes.ts';
import { tableDigests } from '../support/table-digests.ts';
import { type Client, clientOf, expectError } from '../support/v2.ts';

let harness: Harness;
let api: Client;
const lines: Json[] = [];
beforeAll(async () => {
  harness = await startHarness({ log: (line) => lines.push(JSON.parse(line)) });
  api = clientOf(harness);
});
afterAll(() => harness.close());
beforeEach(() => {
  lines.length = 0;
});

const DRY = { 'Dry-Run': 'true' };
const send = (method: string, path: string, body?: Json, headers: Record<string, string> = DRY) =>
  harness.send(method, `/api/v2${path}`, { headers, body });

// Beside every operation by itself, which every-write.test.ts tries.
const WRITES: Record<string, () => Promise<[method: string, path: string, body: Json, status: number]>> = {
  'an update of a set': async () => [
    'PATCH',
    `/contacts/${(await api.create('contacts')).id}`,
    { alt_emails: ['a@dry.test'] },
    200,
  ],
  'a batch with errors': async () => [
    'POST',
    '/companies/batch',
    [{ domain: 'dry.test' }, { domain: 'dry.test' }, {}],
    200,
  ],
  'an interaction that makes its contact': async () => [
    'POST',
    '/interactions',
    { type: 'MEMO', direction: 'INTERNAL', title: 'T', main_contact_email: 'new@dry.test' },
    201,
  ],
};

describe.each(Object.entries(WRITES))('%s', (_, prepare) => {
  test('is answered as it would be, and writes nothing', async () => {
    const [method, path, body, status] = await prepare();
    const before = await tableDigests(harness);
    const dry = await send(method, path, body);
    expect([dry.status, dry.headers.get('Dry-Run')]).toEqual([status, 'true']);
    expect(lines.at(-1)).toMatchObject({ dry_run: true, status });
    expect(await tableDigests(harness)).toEqual(before);
    const real = await send(method, path, body, {});
    expect([real.status, real.headers.get('Dry-Run')]).toEqual([status, null]);
    expect(shapeOf(dry.body)).toEqual(shapeOf(real.body));
    expect(lines.at(-1).dry_run).toBeUndefined();
  });
});

test('items of a batch see each other', async () => {
  const { body } = await send('POST', '/contacts/batch', [
    { email: 'twice@dry.test' },
    { email: 'twice@dry.test' },
  ]);
  expect(body.data.items.map(({ status }: Json) => status)).toEqual(['created', 'error']);
});

test('the next write has no gap, and no trace of it', async () => {
  const dry = await send('POST', '/contacts', { first_name: 'A' });
  expect((await api.get(`/contacts/${dry.body.data.id}`)).status).toBe(404);
  expect(dry.headers.get('Location')).toContain(dry.body.data.id);
});

test('runs beside other writes of the same moment', async () => {
  const writes = Array.from({ length: 40 }, (_, index) =>
    send('POST', '/companies', { name: `Beside ${index}` }, index % 2 === 0 ? DRY : {}),
  );
  const replies = await Promise.all(writes);
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]));
  const names = (await api.list('/companies?limit=200')).map(({ name }) => name);
  for (let index = 0; index < 40; index++) expect(names.includes(`Beside ${index}`)).toBe(index % 2 === 1);
});

describe('errors carry the header', () => {
  test('of validation', async () => {
    const reply = await send('POST', '/contacts', {});
    expectError(reply, 422, 'VALIDATION_REQUIRED_FIELD', 'email');
    expect(reply.headers.get('Dry-Run')).toBe('true');
  });

  test('of execution', async () => {
    await api.create('contacts', { email: 'taken@dry.test' });
    for (const [method, path, body, status] of [
      ['POST', '/contacts', { email: 'taken@dry.test' }, 409],
      ['PATCH', '/contacts/absent', {}, 404],
      ['DELETE', '/contacts/absent', undefined, 404],
    ] as const) {
      const reply = await send(method, path, body);
      expect([reply.status, reply.headers.get('Dry-Run')]).toEqual([status, 'true']);
    }
  });

  test('of a quota, which it does not use', async () => {
    const small = await startHarness();
    await setQuota(small, { records: 1 });
    const dry = (body: Json) => small.send('POST', '/api/v2/contacts/batch', { headers: DRY, body });
    const { body } = await dry([{ first_name: 'A' }, { first_name: 'B' }]);
    expect(body.data.summary).toEqual({ total: 2, succeeded: 0, failed: 2 });
    await small.close();
  });

  test('but not what comes before validation', async () => {
    const reply = await harness.send('POST', '/api/v2/contacts', { headers: DRY, key: null, body: {} });
    expect([reply.status, reply.headers.get('Dry-Run')]).toEqual([401, null]);
  });
});

describe('is refused', () => {
  test.each(['false', 'TRUE', '1', 'yes', 'true, true'])('with the value %p', async (value) => {
    const reply = await send('POST', '/contacts', { first_name: 'A' }, { 'Dry-Run': value });
    expectError(reply, 422, 'VALIDATION_FAILED', 'Dry-Run');
    expect(reply.headers.get('Dry-Run')).toBeNull();
  });

  test('together with an idempotency key, also one that has a stored response', async () => {
    const stored = { 'Idempotency-Key': 'dry-and-keyed' };
    expect((await send('POST', '/contacts', { first_name: 'A' }, stored)).status).toBe(201);
    const reply = await send('POST', '/contacts', { first_name: 'A' }, { ...DRY, ...stored });
    expectError(reply, 422, 'VALIDATION_FAILED', 'Dry-Run');
    expect(reply.headers.get('Dry-Run')).toBe('true');
  });
});

test('is ignored by version 1 and by reads', async () => {
  const reply = await harness.send('PUT', '/api/v1/people', {
    headers: { 'Dry-Run': 'rubbish' },
    body: { email: 'v1@dry.test', firstName: 'V' },
  });
  expect([reply.status, reply.headers.get('Dry-Run')]).toEqual([200, null]);
  const list = await harness.send('GET', '/api/v2/contacts', { headers: { 'Dry-Run': 'rubbish' } });
  expect([list.status, list.headers.get('Dry-Run')]).toEqual([200, null]);
});
