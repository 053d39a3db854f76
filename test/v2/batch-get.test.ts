// Batch get: records by their IDs, as lists show them, in the order asked.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { CONTRACT } from '../support/contract.ts';
import { type Harness, type Json, type Reply, startHarness } from '../support/harness.ts';
import { insertReadOnly, insertTranscribed } from '../support/read-only.ts';
import { ABSENT, type Client, clientOf, expectFault } from '../support/v2.ts';

const MISSING = { code: 'RESOURCE_NOT_FOUND', message: expect.any(String) };

let harness: Harness;
let api: Client;

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

async function make(resource: string): Promise<string> {
  if (resource === 'recordings') return insertTranscribed(harness);
  if (resource === 'meetings' || resource === 'bookings') return insertReadOnly(harness, resource);
  return (await api.create(resource)).id;
}

const batchGet = (resource: string, ids: Json, client = api) => client.batch(`/${resource}/batch/get`, ids);

for (const resource of Object.keys(CONTRACT)) {
  describe(resource, () => {
    test('are shown as in a list, in the order asked, as often as asked', async () => {
      const [a, b, c] = [await make(resource), await make(resource), await make(resource)];
      const listed = new Map((await api.list(`/${resource}`)).map((record) => [record.id, record]));
      const found = (index: number, id: string) => ({ index, id, status: 'found', data: listed.get(id) });
      expect(await batchGet(resource, [c, a, ABSENT, b, c, 'x'])).toEqual({
        items: [
          found(0, c),
          found(1, a),
          { index: 2, id: ABSENT, status: 'error', error: MISSING },
          found(3, b),
          found(4, c),
          { index: 5, id: 'x', status: 'error', error: MISSING },
        ],
        summary: { total: 6, succeeded: 4, failed: 2 },
      });
    });

    test('an item that is no string is an error of its own', async () => {
      const id = await make(resource);
      const { items, summary } = await batchGet(resource, [5, id, null, {}, [id], 'x'.repeat(1_001)]);
      expect(summary).toEqual({ total: 6, succeeded: 1, failed: 5 });
      const codes = items.map((item: Json) => item.error?.code ?? item.status);
      const failed = 'VALIDATION_FAILED';
      expect(codes).toEqual([failed, 'found', failed, failed, failed, 'VALIDATION_OUT_OF_RANGE']);
      expect(items.map((item: Json) => item.id)).toEqual([undefined, id, ...Array(4).fill(undefined)]);
      expect(items[0].error).toEqual({
        code: failed,
        message: 'must be a string',
        details: [{ path: '', message: 'must be a string', code: failed }],
      });
    });
  });
}

test('none is an empty batch, and more than one hundred, or no array, is refused', async () => {
  expect(await batchGet('contacts', [])).toEqual({
    items: [],
    summary: { total: 0, succeeded: 0, failed: 0 },
  });
  const id = await make('contacts');
  expect((await batchGet('contacts', Array(100).fill(id))).summary.succeeded).toBe(100);
  expectFault(await api.post('/contacts/batch/get', Array(101).fill(id)), 'VALIDATION_OUT_OF_RANGE', '');
  for (const body of [{}, { ids: [id] }, null, id])
    expectFault(await api.post('/contacts/batch/get', body), 'VALIDATION_FAILED', '');
});

test('a hidden record and one of another organization answer as one that does not exist', async () => {
  const bobs = await api.create('contacts', { first_name: 'B', owner_id: harness.bob });
  const mine = await api.create('contacts', { first_name: 'A', owner_id: harness.alice });
  const other = await api.withKey({ orgNumber: harness.otherOrgNumber });
  const foreign = await other.create('contacts');
  const user = await api.withKey({ userId: harness.alice });
  const { items } = await batchGet('contacts', [bobs.id, mine.id, foreign.id, ABSENT], user);
  expect(items[1]).toEqual({ index: 1, id: mine.id, status: 'found', data: mine });
  for (const index of [0, 2, 3]) expect(items[index].error).toEqual(items[3].error);
});

test('a user-bound key reads pipelines, as it does in lists', async () => {
  const user = await api.withKey({ userId: harness.alice });
  const pipeline = await api.create('pipelines');
  const { items } = await batchGet('pipelines', [pipeline.id], user);
  expect(items).toEqual([{ index: 0, id: pipeline.id, status: 'found', data: pipeline }]);
});

test('long texts are whole, in an answer of more than 4 MiB', async () => {
  const content = '€'.repeat(50_000);
  const made = await api.post(
    '/notes/batch',
    Array.from({ length: 100 }, () => ({ title: 'N', content })),
  );
  const ids: string[] = made.body.data.items.map((item: Json) => item.data.id);
  const { items, summary } = await batchGet('notes', ids);
  expect(summary.succeeded).toBe(100);
  expect(items.every((item: Json, index: number) => item.data.id === ids[index])).toBe(true);
  expect(items.every((item: Json) => item.data.content === content)).toBe(true);
});

describe('with an Idempotency-Key', () => {
  const send = (key: string, ids: Json): Promise<Reply> =>
    harness.send('POST', '/api/v2/contacts/batch/get', {
      headers: { 'Idempotency-Key': key },
      body: ids,
    });

  test('the answer is stored and sent again, whatever has changed since', async () => {
    const contact = await api.create('contacts');
    const first = await send('get-1', [contact.id]);
    expect(first.status).toBe(200);
    await api.update('contacts', contact.id, { title: 'Other' });
    const again = await send('get-1', [contact.id]);
    expect(again.headers.get('Idempotent-Replayed')).toBe('true');
    expect(again.text).toBe(first.text);
    const fresh = await send('get-2', [contact.id]);
    expect(fresh.headers.get('Idempotent-Replayed')).toBeNull();
    expect(fresh.body.data.items[0].data.title).toBe('Other');
  });

  test('another body under the same key is refused', async () => {
    await send('get-3', []);
    expectFault(await send('get-3', [ABSENT]), 'VALIDATION_FAILED', 'Idempotency-Key');
  });
});

test('Dry-Run is ignored, because nothing is written', async () => {
  const { id } = await api.create('contacts');
  const headers = { 'Dry-Run': 'true' };
  const reply = await harness.send('POST', '/api/v2/contacts/batch/get', { headers, body: [id] });
  expect(reply.status).toBe(200);
  expect(reply.headers.get('Dry-Run')).toBeNull();
});

test('a record whose id is "batch" is looked for where the other methods of a record are', async () => {
  for (const path of ['/deals/batch/contacts', '/notes/batch/records', '/meetings/batch/deal']) {
    const reply = await api.get(path);
    expect(reply.status).toBe(404);
    expect(reply.body.error.message).toMatch(/^Your organization has no/);
  }
});
