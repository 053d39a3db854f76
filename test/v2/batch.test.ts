// Batch-create: items stand alone, see each other in order, and are reported one by one.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { CREATABLE } from '../support/contract.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { type Client, clientOf, expectFault, minimalBody, outcomesOf, uniqueEmail } from '../support/v2.ts';

let harness: Harness;
let api: Client;

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

/** The data of a batch, which is 200 whatever its items are. */
async function batch(resource: string, items: Json): Promise<Json> {
  const reply = await api.post(`/${resource}/batch`, items);
  expect(reply.status).toBe(200);
  expect(Object.keys(reply.body)).toEqual(['object', 'data', 'meta']);
  expect(reply.body.object).toBe('batch');
  expect(reply.body.meta).toEqual({
    request_id: reply.headers.get('X-Request-Id'),
    api_version: '2',
    timestamp: new Date(harness.clock.now).toISOString(),
  });
  return reply.body.data;
}

for (const resource of CREATABLE) {
  describe(resource, () => {
    test('an empty batch is 200 with zeros', async () => {
      expect(await batch(resource, [])).toEqual({
        items: [],
        summary: { total: 0, succeeded: 0, failed: 0 },
      });
    });

    test('good items are created whatever stands between them', async () => {
      const good = () => minimalBody(resource);
      const bad = { ...good(), nonsense: 1 };
      const { items, summary } = await batch(resource, [good(), bad, good(), null, 'x', 5, [], good()]);
      expect(summary).toEqual({ total: 8, succeeded: 3, failed: 5 });
      expect(items.map((item: Json) => item.index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
      for (const item of items) {
        expect(item.status).toBe([0, 2, 7].includes(item.index) ? 'created' : 'error');
        if (item.status === 'error') {
          expect(item).not.toHaveProperty('data');
          expect(item.error).toMatchObject({ code: 'VALIDATION_FAILED', message: expect.any(String) });
          continue;
        }
        expect(item).not.toHaveProperty('error');
        const { is_duplicate: _, ...record } = item.data;
        expect(await api.fetch(resource, item.data.id)).toEqual(record);
      }
    });

    test('one hundred items are taken in order, one more is refused', async () => {
      const items = Array.from({ length: 101 }, () => minimalBody(resource));
      const before = (await api.list(`/${resource}?limit=200`)).length;
      expectFault(await api.post(`/${resource}/batch`, items), 'VALIDATION_OUT_OF_RANGE', '');
      expect(await api.list(`/${resource}?limit=200`)).toHaveLength(before);
      const data = await batch(resource, items.slice(1));
      expect(data.summary).toEqual({ total: 100, succeeded: 100, failed: 0 });
      const created: string[] = data.items.map((item: Json) => item.data.id);
      expect(await api.ids(`/${resource}?limit=100`)).toEqual(created.toReversed());
    });

    test('a body that is no array is refused', async () => {
      for (const body of [{}, { items: [] }, null, 'x', 5, true, minimalBody(resource)])
        expectFault(await api.post(`/${resource}/batch`, body), 'VALIDATION_FAILED', '');
    });
  });
}

test('items of one batch see each other in order', async () => {
  const email = uniqueEmail();
  const contacts = await batch('contacts', [
    { email },
    { email: email.toUpperCase() },
    { first_name: 'A', alt_emails: [email] },
  ]);
  expect(outcomesOf(contacts)).toEqual(['created', 'RESOURCE_CONFLICT', 'RESOURCE_CONFLICT']);
  const domain = 'batch.example';
  const companies = await batch('companies', [{ domain: 'absent' }, { domain }, { domain: `www.${domain}` }]);
  expect(outcomesOf(companies)).toEqual(['created', 'created', 'RESOURCE_CONFLICT']);
});

test('every item tells its own fault, as a single create would', async () => {
  const rows: [Json, string][] = [
    [{}, 'VALIDATION_REQUIRED_FIELD'],
    [{ email: 'x' }, 'VALIDATION_INVALID_FORMAT'],
    [{ first_name: '😀'.repeat(1_001) }, 'VALIDATION_OUT_OF_RANGE'],
    [{ first_name: 'A', company_id: 'absent' }, 'VALIDATION_FAILED'],
    [{ first_name: 'a\0' }, 'VALIDATION_FAILED'],
    [{ first_name: 'A', custom: { a: { b: 1 } } }, 'VALIDATION_FAILED'],
  ];
  const { items } = await batch(
    'contacts',
    rows.map(([item]) => item),
  );
  for (const [index, [body, code]] of rows.entries()) {
    const { error } = items[index];
    expect(error.code).toBe(code);
    const single = await api.post('/contacts', body);
    expect(error).toEqual(single.body.error);
  }
});

test('an item that fails late leaves nothing of itself behind', async () => {
  const [taken, free] = [uniqueEmail(), uniqueEmail()];
  await api.create('contacts', { email: taken });
  const data = await batch('contacts', [{ email: free, alt_emails: [taken] }, { email: free }]);
  expect(outcomesOf(data)).toEqual(['RESOURCE_CONFLICT', 'created']);
});
