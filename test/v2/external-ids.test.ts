// External IDs: what a record of another system is called there, added, listed and removed below the record.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { tableOf } from '../../db/engine/schema.ts';
import { CHANGEABLE } from '../support/contract.ts';
import { BASE_URL, type Harness, type Json, startHarness } from '../support/harness.ts';
import { countedIn, recordTotalsOf, setQuota } from '../support/quota.ts';
import { type Client, clientOf, expectError, expectFault, expectMissing } from '../support/v2.ts';

let harness: Harness;
let api: Client;
beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

let count = 0;
// An ID that no record has yet.
const freshId = () => {
  count += 1;
  return `ID-${count}`;
};
const at = () => new Date(harness.clock.now).toISOString();
const make = async (resource: string, client = api): Promise<string> =>
  `/${resource}/${(await client.create(resource)).id}`;
const add = (record: string, source: string, id: string, client = api) =>
  client.post(`${record}/external_ids`, { source, id });

function expectConflict(reply: { body: Json }, path: string, existing?: string): void {
  expectError(reply as never, 409, 'RESOURCE_CONFLICT', path);
  const [detail] = reply.body.error.details;
  expect(detail.existing_id).toBe(existing);
}

describe.each(CHANGEABLE)('of %s', (resource) => {
  test('is added, shown, and added again without any change', async () => {
    const record = await make(resource);
    const id = freshId();
    const first = await add(record, 'salesforce', id);
    const expected = { source: 'salesforce', id, created_at: at() };
    harness.clock.now += 1_000;
    for (const reply of [first, await add(record, 'salesforce', id)]) {
      expect([reply.status, reply.body.object, reply.body.data]).toEqual([200, 'success', expected]);
      expect(reply.headers.get('Location')).toBeNull();
    }
    expect(await api.list(`${record}/external_ids`)).toEqual([expected]);
  });

  test('leaves the record as it is', async () => {
    const record = await make(resource);
    const before = await api.get(record);
    await add(record, 'salesforce', freshId());
    await api.del(`${record}/external_ids/salesforce`);
    const after = await api.get(record);
    expect(after.body.data).toEqual(before.body.data);
    expect(after.headers.get('ETag')).toBe(before.headers.get('ETag'));
  });

  test('is listed newest first, page after page', async () => {
    const record = await make(resource);
    const expected: string[] = [];
    for (const source of ['c', 'a', 'e', 'b', 'd']) {
      await add(record, source, freshId());
      expected.unshift(source);
    }
    expect((await api.list(`${record}/external_ids`)).map(({ source }) => source)).toEqual(expected);
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await api.get(`${record}/external_ids?limit=2${cursor}`);
      seen.push(...body.data.map(({ source }: Json) => source));
      if (!body.page_info.has_next_page) break;
      cursor = `&cursor=${body.page_info.end_cursor}`;
    }
    expect(seen).toEqual(expected);
  });

  test('that another record has is a conflict, which names that record', async () => {
    const [one, other] = [await make(resource), await make(resource)];
    const id = freshId();
    await add(one, 'salesforce', id);
    const reply = await add(other, 'salesforce', id);
    expectConflict(reply, 'id', one.split('/')[2]);
    expect(reply.headers.get('Location')).toBe(`${BASE_URL}/api/v2${one}`);
    expect(await api.list(`${other}/external_ids`)).toEqual([]);
  });

  test('of a source that the record has another ID of is a conflict', async () => {
    const record = await make(resource);
    await add(record, 'salesforce', freshId());
    const reply = await add(record, 'salesforce', freshId());
    expectConflict(reply, 'source');
    expect(reply.headers.get('Location')).toBeNull();
    expect((await add(record, 'hubspot', freshId())).status).toBe(200);
  });

  test('is one of twenty', async () => {
    const record = await make(resource);
    const id = freshId();
    for (let number = 1; number <= 20; number++)
      expect((await add(record, `s${number}`, id)).status).toBe(200);
    expectFault(await add(record, 's21', id), 'VALIDATION_OUT_OF_RANGE', 'source');
    expect((await add(record, 's20', id)).status).toBe(200);
    expect((await api.del(`${record}/external_ids/s1`)).status).toBe(204);
    expect((await add(record, 's21', id)).status).toBe(200);
    expect(await api.list(`${record}/external_ids?limit=200`)).toHaveLength(20);
  });

  test('is removed once, and can then be added to any record', async () => {
    const [one, other] = [await make(resource), await make(resource)];
    const id = freshId();
    await add(one, 'salesforce', id);
    await add(one, 'hubspot', id);
    expectMissing(await api.del(`${other}/external_ids/salesforce`));
    expect((await api.del(`${one}/external_ids/salesforce`)).status).toBe(204);
    expectMissing(await api.del(`${one}/external_ids/salesforce`));
    expect((await api.list(`${one}/external_ids`)).map(({ source }) => source)).toEqual(['hubspot']);
    expect((await add(other, 'salesforce', id)).status).toBe(200);
  });

  test('goes with its record', async () => {
    const [one, other] = [await make(resource), await make(resource)];
    const id = freshId();
    await add(one, 'salesforce', id);
    expect((await api.del(one)).status).toBe(204);
    expectMissing(await api.get(`${one}/external_ids`));
    expectMissing(await api.del(`${one}/external_ids/salesforce`));
    expectMissing(await add(one, 'salesforce', id));
    expect((await add(other, 'salesforce', id)).status).toBe(200);
  });
});

describe('the source and the ID', () => {
  let record: string;
  beforeAll(async () => {
    record = await make('deals');
  });

  test.each(['a', '0', 'sales-force_2.eu', '...', 'x'.repeat(64)])('can be the source %p', async (source) => {
    expect((await add(record, source, freshId())).status).toBe(200);
    expect((await api.del(`${record}/external_ids/${source}`)).status).toBe(204);
  });

  const FORMAT = 'VALIDATION_INVALID_FORMAT';
  const RANGE = 'VALIDATION_OUT_OF_RANGE';
  const REQUIRED = 'VALIDATION_REQUIRED_FIELD';
  test.each([
    [{ id: '1' }, 'source', REQUIRED],
    [{ source: 'a' }, 'id', REQUIRED],
    [{ source: null, id: '1' }, 'source', 'VALIDATION_FAILED'],
    [{ source: 'a', id: null }, 'id', 'VALIDATION_FAILED'],
    [{ source: 'a', id: 5 }, 'id', 'VALIDATION_FAILED'],
    [{ source: '', id: '1' }, 'source', FORMAT],
    [{ source: 'Salesforce', id: '1' }, 'source', FORMAT],
    [{ source: 'a b', id: '1' }, 'source', FORMAT],
    [{ source: 'a:b', id: '1' }, 'source', FORMAT],
    [{ source: 'ä', id: '1' }, 'source', FORMAT],
    [{ source: 'a\n', id: '1' }, 'source', FORMAT],
    [{ source: 'x'.repeat(65), id: '1' }, 'source', RANGE],
    [{ source: 'a', id: '' }, 'id', REQUIRED],
    [{ source: 'a', id: ' \t' }, 'id', REQUIRED],
    [{ source: 'a', id: 'x'.repeat(256) }, 'id', RANGE],
    [{ source: 'a', id: '\u{1F600}'.repeat(256) }, 'id', RANGE],
    [{ source: 'a', id: 'a\0b' }, 'id', 'VALIDATION_FAILED'],
    [{ source: 'a', id: '1', created_at: '2026-01-01T00:00:00Z' }, 'created_at', 'VALIDATION_FAILED'],
  ])('%j is refused', async (body, path, code) => {
    expectFault(await api.post(`${record}/external_ids`, body), code, path);
  });

  test('are told what a source may have', async () => {
    const { body } = await add(record, 'Sales Force', '1');
    expect(body.error.message).toBe('source: must have only the characters a to z, 0 to 9, _, . and -');
  });

  test('of the greatest length are kept', async () => {
    const [source, id] = ['x'.repeat(64), '\u{1F600}'.repeat(255)];
    const kept = await make('tasks');
    expect((await add(kept, source, id)).body.data).toMatchObject({ source, id });
    expectConflict(await add(await make('tasks'), source, id), 'id', kept.split('/')[2]);
    expect(await api.ids(`/tasks?external_id=${source}:${encodeURIComponent(id)}`)).toEqual([
      kept.split('/')[2] ?? '',
    ]);
  });

  test('are compared exactly', async () => {
    const different = ['abc', 'ABC', ' abc', 'abc ', 'é', 'e\u0301', '1', '01', '1.0'];
    const ids: string[] = [];
    for (const id of different) {
      const contact = await make('contacts');
      ids.push(contact.split('/')[2] ?? '');
      expect((await add(contact, 'exact', id)).status).toBe(200);
    }
    for (const [index, id] of different.entries())
      expect(await api.ids(`/contacts?external_id=exact:${encodeURIComponent(id)}`)).toEqual([
        ids[index] ?? '',
      ]);
  });
});

test('records of different resources, and of different organizations, can have the same', async () => {
  const id = freshId();
  const other = await api.withKey({ orgNumber: harness.otherOrgNumber });
  for (const client of [api, other])
    for (const resource of CHANGEABLE) {
      const record = await make(resource, client);
      expect((await add(record, 'shared', id, client)).status).toBe(200);
      if (resource === 'pipelines') continue;
      expect(await client.ids(`/${resource}?external_id=shared:${id}`)).toEqual([record.split('/')[2] ?? '']);
    }
});

describe('the filter', () => {
  test.each(['nonsense', ':1', 'crm:', 'CRM:1', 'a b:1', `${'x'.repeat(65)}:1`])(
    'external_id=%s is refused',
    async (value) => {
      const reply = await api.get(`/deals?external_id=${encodeURIComponent(value)}`);
      expectFault(reply, 'VALIDATION_INVALID_FORMAT', 'external_id');
      expect(reply.body.error.message).toContain('must be SOURCE:ID, such as salesforce:');
    },
  );

  test('is not one of pipelines, nor of what cannot be changed', async () => {
    for (const resource of ['pipelines', 'interactions', 'meetings', 'recordings', 'bookings'])
      expectFault(await api.get(`/${resource}?external_id=a:1`), 'VALIDATION_FAILED', 'external_id');
  });

  test('splits at the first colon', async () => {
    const record = await make('notes');
    await add(record, 'url', 'https://crm.example/notes/7');
    const found = await api.ids('/notes?external_id=url:https://crm.example/notes/7');
    expect(found).toEqual([record.split('/')[2] ?? '']);
  });

  test('hints at %2B where the value has a plus', async () => {
    const record = await make('notes');
    await add(record, 'plus', 'a+b');
    expect(await api.ids('/notes?external_id=plus:a%2Bb')).toHaveLength(1);
    expect(await api.ids('/notes?external_id=plus:a+b')).toEqual([]);
  });

  test('gives one page, whatever the order', async () => {
    const record = await make('companies');
    await add(record, 'sorted', '1');
    for (const order of ['created_at', 'updated_at'])
      for (const direction of ['asc', 'desc']) {
        const query = `external_id=sorted:1&limit=1&sort_by=${order}&sort_direction=${direction}`;
        const { body } = await api.get(`/companies?${query}`);
        expect([body.data.length, body.page_info.has_next_page]).toEqual([1, false]);
      }
    expect(await api.ids('/companies?external_id=sorted:1&created_since=9999999999999')).toEqual([]);
  });
});

describe('a list', () => {
  test('takes a cursor and a limit only', async () => {
    const record = await make('deals');
    for (const name of ['sort_by', 'source', 'created_since'])
      expectFault(await api.get(`${record}/external_ids?${name}=a`), 'VALIDATION_FAILED', name);
    expectFault(await api.get(`${record}/external_ids?limit=201`), 'VALIDATION_OUT_OF_RANGE', 'limit');
  });

  test('of another record does not take its cursor', async () => {
    const [one, other] = [await make('deals'), await make('deals')];
    for (const source of ['a', 'b']) await add(one, source, freshId());
    const { body } = await api.get(`${one}/external_ids?limit=1`);
    const query = `cursor=${body.page_info.end_cursor}`;
    expect(await api.list(`${one}/external_ids?${query}`)).toHaveLength(1);
    expectFault(await api.get(`${other}/external_ids?${query}`), 'VALIDATION_INVALID_FORMAT', 'cursor');
  });

  test('continues where it was while external IDs are added and removed', async () => {
    const record = await make('deals');
    for (const source of ['a', 'b', 'c', 'd', 'e']) await add(record, source, freshId());
    const { body } = await api.get(`${record}/external_ids?limit=2`);
    await add(record, 'f', freshId());
    for (const source of ['d', 'c']) await api.del(`${record}/external_ids/${source}`);
    const rest = await api.list(`${record}/external_ids?cursor=${body.page_info.end_cursor}`);
    expect(rest.map(({ source }) => source)).toEqual(['b', 'a']);
  });
});

describe('a key', () => {
  const keyWith = (scopes: string[], userId?: string) => api.withKey({ scopes, ...(userId && { userId }) });
  const USERS = CHANGEABLE.filter((resource) => resource !== 'pipelines');

  test.each(USERS)('bound to a user does not see those of others: %s', async (resource) => {
    const { alice, bob } = harness;
    const scopes = [`${resource}:read`, `${resource}:write`];
    const [hers, his] = [await keyWith(scopes, alice), await keyWith(scopes, bob)];
    const [own, hidden] = [await make(resource, hers), await make(resource, his)];
    const id = freshId();
    await add(hidden, 'crm', id, his);
    const absent = `/${resource}/absent`;
    for (const path of [hidden, absent]) {
      expectMissing(await hers.get(`${path}/external_ids`));
      expectMissing(await add(path, 'crm', freshId(), hers));
      expectMissing(await hers.del(`${path}/external_ids/crm`));
    }
    const refused = await add(own, 'crm', id, hers);
    expectConflict(refused, 'id');
    expect(refused.headers.get('Location')).toBeNull();
    expect(await hers.ids(`/${resource}?external_id=crm:${id}`)).toEqual([]);
    expect(await his.ids(`/${resource}?external_id=crm:${id}`)).toHaveLength(1);
    expect(await his.list(`${hidden}/external_ids`)).toHaveLength(1);
  });

  test('bound to a user sees those of pipelines, and does not change them', async () => {
    const pipeline = await make('pipelines');
    await add(pipeline, 'crm', freshId());
    const hers = await keyWith(['pipelines:read', 'pipelines:write'], harness.alice);
    expect(await hers.list(`${pipeline}/external_ids`)).toHaveLength(1);
    expectError(await add(pipeline, 'erp', freshId(), hers), 403, 'OPERATION_FORBIDDEN');
    expectError(await hers.del(`${pipeline}/external_ids/crm`), 403, 'OPERATION_FORBIDDEN');
  });

  test('that cannot read is not told which record has one', async () => {
    const [one, other] = [await make('contacts'), await make('contacts')];
    const id = freshId();
    const writer = await keyWith(['contacts:write']);
    expect((await add(one, 'crm', id, writer)).status).toBe(200);
    const refused = await add(other, 'crm', id, writer);
    expectConflict(refused, 'id');
    expect(refused.headers.get('Location')).toBeNull();
  });
});

test('one ID that is added to many records at once is that of one of them', async () => {
  const records = await Promise.all(Array.from({ length: 40 }, () => make('companies')));
  const replies = await Promise.all(records.map((record) => add(record, 'race', '1')));
  const statuses = replies.map(({ status }) => status).sort();
  expect(statuses).toEqual([200, ...Array.from({ length: 39 }, () => 409)]);
  const winner = records[replies.findIndex(({ status }) => status === 200)];
  expect(await api.ids('/companies?external_id=race:1')).toEqual([winner?.split('/')[2] ?? '']);
});

test('many sources that are added to one record at once are twenty in the end', async () => {
  const record = await make('deals');
  const replies = await Promise.all(Array.from({ length: 30 }, (_, index) => add(record, `s${index}`, 'x')));
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(20);
  expect(await api.list(`${record}/external_ids?limit=200`)).toHaveLength(20);
});

test('an add with an idempotency key is replayed, also after what it added was removed', async () => {
  const record = await make('deals');
  const input = { body: { source: 'keyed', id: '1' }, headers: { 'Idempotency-Key': freshId() } };
  const path = `/api/v2${record}/external_ids`;
  const first = await harness.send('POST', path, input);
  await api.del(`${record}/external_ids/keyed`);
  const again = await harness.send('POST', path, input);
  expect([again.status, again.text]).toEqual([200, first.text]);
  expect(again.headers.get('Idempotent-Replayed')).toBe('true');
  expect(await api.list(`${record}/external_ids`)).toEqual([]);
});

describe('an organization with a quota', () => {
  test('has them counted with the bytes of its records', async () => {
    const counted = await startHarness();
    const client = clientOf(counted);
    const record = await make('tasks', client);
    await add(record, 'before', 'counted: é', client);
    await setQuota(counted, { bytes: 1_000_000 });
    const same = async () => expect(await countedIn(counted)).toEqual(await recordTotalsOf(counted));
    await same();
    const before = (await recordTotalsOf(counted)).bytes;
    await add(record, 'source', '12345', client);
    await add(record, 'source', '12345', client);
    await add(record, 'source', 'another', client);
    expect((await recordTotalsOf(counted)).bytes - before).toBe('source12345'.length);
    await same();
    await client.del(`${record}/external_ids/before`);
    await client.del(`${record}/external_ids/before`);
    await same();
    await client.del(record);
    expect(await recordTotalsOf(counted)).toEqual({ records: 1, bytes: expect.any(Number) });
    await same();
    await counted.close();
  });

  test('is refused one that exceeds it', async () => {
    const full = await startHarness();
    const client = clientOf(full);
    const record = await make('tasks', client);
    await setQuota(full, { bytes: (await recordTotalsOf(full)).bytes + 10 });
    const refused = await add(record, 'source', '12345', client);
    expectError(refused, 403, 'OPERATION_FORBIDDEN', 'quota.bytes');
    expect(await client.list(`${record}/external_ids`)).toEqual([]);
    expect((await add(record, 'source', '1234', client)).status).toBe(200);
    await full.close();
  });
});

describe('of a record that an older crm on the same database has deleted', () => {
  test('is found nowhere, and free', async () => {
    await setQuota(harness, { bytes: 1_000_000_000 });
    const [gone, left] = [await make('notes'), await make('notes')];
    const id = freshId();
    await add(gone, 'older', id);
    await add(left, 'older', freshId());
    const notes = tableOf({ name: 'notes' });
    await harness.store.write(harness.orgNumber, (trx) =>
      trx
        .deleteFrom(notes)
        .where('id', '=', gone.split('/')[2] ?? '')
        .execute(),
    );
    expect(await api.ids(`/notes?external_id=older:${id}`)).toEqual([]);
    const another = await make('notes');
    expect((await add(another, 'older', id)).status).toBe(200);
    expect(await api.ids(`/notes?external_id=older:${id}`)).toEqual([another.split('/')[2] ?? '']);
  });
});
