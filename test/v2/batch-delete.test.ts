// Batch delete: each record is deleted as DELETE does it, or rejected by itself.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { listAudit } from '../../db/tables/audit.ts';
import { CHANGEABLE } from '../support/contract.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { type Client, clientOf, expectError, expectFault, expectMissing } from '../support/v2.ts';

const ABSENT = '019b76da-a800-7000-8000-000000000001';

let harness: Harness;
let api: Client;

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

async function batchDelete(resource: string, ids: Json, client = api): Promise<Json> {
  const reply = await client.post(`/${resource}/batch/delete`, ids);
  expect(reply.status).toBe(200);
  expect(reply.body.object).toBe('batch');
  return reply.body.data;
}

const statuses = (data: Json): string[] => data.items.map((item: Json) => item.error?.code ?? item.status);

for (const resource of CHANGEABLE) {
  describe(resource, () => {
    test('are gone, without data in the answer; an id sent twice fails the second time', async () => {
      const [a, b, kept] = [
        await api.create(resource),
        await api.create(resource),
        await api.create(resource),
      ];
      const missing = (await api.del(`/${resource}/${ABSENT}`)).body.error;
      const { details: _, ...error } = missing;
      expect(await batchDelete(resource, [a.id, ABSENT, b.id, a.id])).toEqual({
        items: [
          { index: 0, id: a.id, status: 'deleted' },
          { index: 1, id: ABSENT, status: 'error', error },
          { index: 2, id: b.id, status: 'deleted' },
          { index: 3, id: a.id, status: 'error', error },
        ],
        summary: { total: 4, succeeded: 2, failed: 2 },
      });
      for (const { id } of [a, b]) expectMissing(await api.get(`/${resource}/${id}`));
      expect(await api.fetch(resource, kept.id)).toEqual(kept);
    });

    test('an item that is no string is an error of its own', async () => {
      const { id } = await api.create(resource);
      expect(statuses(await batchDelete(resource, [null, id, { id }]))).toEqual([
        'VALIDATION_FAILED',
        'deleted',
        'VALIDATION_FAILED',
      ]);
    });
  });
}

test('none is an empty batch, and more than one hundred, or no array, is refused', async () => {
  expect(await batchDelete('contacts', [])).toEqual({
    items: [],
    summary: { total: 0, succeeded: 0, failed: 0 },
  });
  const { id } = await api.create('contacts');
  expectFault(await api.post('/contacts/batch/delete', Array(101).fill(id)), 'VALIDATION_OUT_OF_RANGE', '');
  for (const body of [{}, { ids: [id] }, null, id])
    expectFault(await api.post('/contacts/batch/delete', body), 'VALIDATION_FAILED', '');
  expect((await api.get(`/contacts/${id}`)).status).toBe(200);
});

test('a pipeline that deals use stays, and the others go', async () => {
  const [used, free] = [await api.create('pipelines'), await api.create('pipelines')];
  const deal = await api.create('deals', { name: 'D', pipeline_id: used.id });
  expect(statuses(await batchDelete('pipelines', [used.id, free.id]))).toEqual([
    'RESOURCE_CONFLICT',
    'deleted',
  ]);
  expect(await api.fetch('deals', deal.id)).toEqual(deal);
  expect(await api.fetch('pipelines', used.id)).toEqual(used);
});

test('what belongs to a record goes with it, and references to it are cleared', async () => {
  const company = await api.create('companies');
  const contact = await api.create('contacts', { email: 'gone@mail.example', company_id: company.id });
  const deal = await api.create('deals', { name: 'D', company_id: company.id });
  await api.post(`/deals/${deal.id}/companies`, { company_id: company.id });
  await batchDelete('companies', [company.id]);
  expect((await api.fetch('contacts', contact.id)).company_id).toBeNull();
  expect((await api.fetch('deals', deal.id)).company_id).toBeNull();
  expect(await api.list(`/deals/${deal.id}/companies`)).toEqual([]);
  await batchDelete('contacts', [contact.id]);
  await api.create('contacts', { email: 'gone@mail.example' });
});

test('a hidden record, and one of another organization, answer as absent ones and stay', async () => {
  const bobs = await api.create('contacts', { first_name: 'B', owner_id: harness.bob });
  const mine = await api.create('contacts', { first_name: 'A', owner_id: harness.alice });
  const other = clientOf(harness, (await harness.issue({ orgNumber: harness.otherOrgNumber })).key);
  const foreign = await other.create('contacts');
  const user = clientOf(harness, (await harness.issue({ userId: harness.alice })).key);
  const { items } = await batchDelete('contacts', [bobs.id, foreign.id, ABSENT, mine.id], user);
  expect(items[3].status).toBe('deleted');
  for (const index of [0, 1]) expect(items[index].error).toEqual(items[2].error);
  expect((await api.get(`/contacts/${bobs.id}`)).status).toBe(200);
  expect((await other.get(`/contacts/${foreign.id}`)).status).toBe(200);
});

test('a user-bound key deletes no pipelines', async () => {
  const { id } = await api.create('pipelines');
  const user = clientOf(harness, (await harness.issue({ userId: harness.alice })).key);
  expectError(await user.post('/pipelines/batch/delete', [id]), 403, 'OPERATION_FORBIDDEN');
  expect((await api.get(`/pipelines/${id}`)).status).toBe(200);
});

test('each delete is an entry of the audit log, with the address it came from', async () => {
  const [a, b] = [await api.create('tasks'), await api.create('tasks')];
  const headers = { 'X-Test-Address': '192.0.2.77' };
  const reply = await harness.send('POST', '/api/v2/tasks/batch/delete', {
    ...{ headers, body: [a.id, ABSENT, b.id] },
  });
  const entries = await listAudit(harness.store.read, { limit: 2 });
  for (const [entry, { id }] of [
    [entries[0], b],
    [entries[1], a],
  ] as const) {
    expect(entry).toMatchObject({
      ...{ action: 'record.deleted', target_type: 'tasks', target_id: id, origin: '192.0.2.77' },
      request_id: reply.headers.get('X-Request-Id'),
    });
  }
});

test('a dry run deletes nothing, and a repeated request deletes once', async () => {
  const { id } = await api.create('tasks');
  const send = (headers: Record<string, string>) =>
    harness.send('POST', '/api/v2/tasks/batch/delete', { headers, body: [id] });
  const tried = await send({ 'Dry-Run': 'true' });
  expect(tried.body.data.items).toEqual([{ index: 0, id, status: 'deleted' }]);
  expect((await api.get(`/tasks/${id}`)).status).toBe(200);
  const first = await send({ 'Idempotency-Key': 'delete-1' });
  const again = await send({ 'Idempotency-Key': 'delete-1' });
  expect(first.body.data.items).toEqual([{ index: 0, id, status: 'deleted' }]);
  expect(again.text).toBe(first.text);
});
