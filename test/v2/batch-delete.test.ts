// Batch delete: each record is deleted as DELETE does it, or rejected by itself.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { linkTable } from '../../db/engine/schema.ts';
import { listAudit } from '../../db/tables/audit.ts';
import { CHANGEABLE } from '../support/contract.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { countedIn, recordTotalsOf, setQuota } from '../support/quota.ts';
import {
  ABSENT,
  type Client,
  clientOf,
  expectError,
  expectFault,
  expectMissing,
  outcomesOf,
} from '../support/v2.ts';

let harness: Harness;
let api: Client;

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

const batchDelete = (resource: string, ids: Json, client = api) =>
  client.batch(`/${resource}/batch/delete`, ids);

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
      expect(outcomesOf(await batchDelete(resource, [null, id, { id }]))).toEqual([
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
  expect(outcomesOf(await batchDelete('pipelines', [used.id, free.id]))).toEqual([
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

describe('records that depend on each other', () => {
  for (const [order, pick] of Object.entries({
    'the parent first': (ids: string[]) => ids,
    'the child first': (ids: string[]) => ids.toReversed(),
  })) {
    test(`notes of one tree go together, ${order}, and those below them stay`, async () => {
      const parent = await api.create('notes');
      const child = await api.create('notes', { title: 'C', parent_id: parent.id });
      const below = await api.create('notes', { title: 'B', parent_id: child.id });
      expect(outcomesOf(await batchDelete('notes', pick([parent.id, child.id])))).toEqual([
        'deleted',
        'deleted',
      ]);
      for (const { id } of [parent, child]) expectMissing(await api.get(`/notes/${id}`));
      expect((await api.fetch('notes', below.id)).parent_id).toBeNull();
    });
  }

  test('a supervisor goes with one of those supervised, and the other link stays without', async () => {
    const deal = await api.create('deals');
    const [supervisor, gone, kept] = [
      await api.create('contacts'),
      await api.create('contacts'),
      await api.create('contacts'),
    ];
    for (const { id } of [gone, kept])
      await api.post(`/deals/${deal.id}/contacts`, { contact_id: id, supervisor: supervisor.id });
    await batchDelete('contacts', [supervisor.id, gone.id]);
    expect(await api.list(`/deals/${deal.id}/contacts`)).toMatchObject([{ id: kept.id, supervisor: null }]);
  });

  test('six hundred links of segments with the same members go with two of them, and no others', async () => {
    const segments = await Promise.all(Array.from({ length: 3 }, () => api.create('segments')));
    const [first, second, kept] = segments.map(({ id }) => id);
    const members: string[] = [];
    for (let batch = 0; batch < 3; batch++) {
      const { items } = (await api.post('/contacts/batch', Array(100).fill({ first_name: 'A' }))).body.data;
      const ids: string[] = items.map(({ data }: Json) => data.id);
      for (const parent_id of [first, second, kept])
        await api.post(
          '/links/batch',
          ids.map((id) => ({ of: 'segments.members', parent_id, id })),
        );
      members.push(...ids);
    }
    await batchDelete('segments', [first, second]);
    const links = harness.store.read
      .selectFrom(linkTable('segment_members'))
      .select('segment_id' as 'org_id');
    const left = await links.where('org_id', '=', harness.orgNumber).execute();
    expect(left).toEqual(Array(members.length).fill({ segment_id: kept }));
    await batchDelete('contacts', members.slice(0, 100));
    expect((await api.fetch('segments', kept ?? '')).member_count).toBe(members.length - 100);
  });
});

test('their external IDs and addresses become free, and the quota has room for as much', async () => {
  await setQuota(harness, { records: 10_000 });
  const bodies = ['a', 'b', 'c'].map((name) => ({
    ...{ email: `${name}@freed.example`, alt_emails: [`${name}2@freed.example`], first_name: name },
    external_id: { source: 'crm', id: `freed-${name}` },
  }));
  const upsert = async () => {
    const { items } = (await api.post('/contacts/batch/upsert', bodies)).body.data;
    return items.map(({ status, data }: Json) => [status, data.id]);
  };
  const made = await upsert();
  await batchDelete('contacts', [made[0][1], made[2][1]]);
  expect(await countedIn(harness)).toEqual(await recordTotalsOf(harness));
  expect((await upsert()).map(([status]: string[]) => status)).toEqual(['created', 'unchanged', 'created']);
});

test('a hidden record, and one of another organization, answer as absent ones and stay', async () => {
  const bobs = await api.create('contacts', { first_name: 'B', owner_id: harness.bob });
  const mine = await api.create('contacts', { first_name: 'A', owner_id: harness.alice });
  const other = await api.withKey({ orgNumber: harness.otherOrgNumber });
  const foreign = await other.create('contacts');
  const user = await api.withKey({ userId: harness.alice });
  const { items } = await batchDelete('contacts', [bobs.id, foreign.id, ABSENT, mine.id], user);
  expect(items[3].status).toBe('deleted');
  for (const index of [0, 1]) expect(items[index].error).toEqual(items[2].error);
  expect((await api.get(`/contacts/${bobs.id}`)).status).toBe(200);
  expect((await other.get(`/contacts/${foreign.id}`)).status).toBe(200);
});

test('a user-bound key deletes no pipelines', async () => {
  const { id } = await api.create('pipelines');
  const user = await api.withKey({ userId: harness.alice });
  expectError(await user.post('/pipelines/batch/delete', [id]), 403, 'OPERATION_FORBIDDEN');
  expect((await api.get(`/pipelines/${id}`)).status).toBe(200);
});

test('each delete is an entry of the audit log, with the address it came from', async () => {
  const [a, b] = [await api.create('tasks'), await api.create('tasks')];
  const headers = { 'X-Test-Address': '192.0.2.77' };
  const reply = await harness.send('POST', '/api/v2/tasks/batch/delete', {
    ...{ headers, body: [a.id, ABSENT, b.id] },
  });
  const entries = await listAudit(harness.store.read, { action: 'record.deleted', limit: 2 });
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
