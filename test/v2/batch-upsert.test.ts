// Batch upsert: each item as the single upsert makes it, in order, each finding what those before it made.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { CHANGEABLE } from '../support/contract.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { countedIn, recordTotalsOf, setQuota } from '../support/quota.ts';
import { type Client, clientOf, expectFault, minimalBody, outcomesOf, uniqueEmail } from '../support/v2.ts';

let harness: Harness;
let api: Client;
let user: Client;

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
  user = await api.withKey({ userId: harness.alice });
});
afterAll(() => harness.close());

let count = 0;
const externalId = (source = 'src') => ({ source, id: `b${++count}` });
const at = () => new Date(harness.clock.now).toISOString();

const batchUpsert = (resource: string, items: Json, client = api) =>
  client.batch(`/${resource}/batch/upsert`, items);

for (const resource of CHANGEABLE) {
  describe(resource, () => {
    const field = ['notes', 'contacts'].includes(resource) ? 'title' : 'name';

    test('items with one external ID make one record, and each shows its own state', async () => {
      const external_id = externalId();
      const body = { ...minimalBody(resource), external_id };
      harness.clock.now += 1_000;
      const { items, summary } = await batchUpsert(resource, [
        body,
        body,
        { ...body, [field]: 'One' },
        { external_id, [field]: 'One' },
        { external_id, [field]: 'Two', on_match: 'keep' },
        { external_id, [field]: 'Three', on_match: 'fill' },
        { external_id, [field]: 'Four', match: ['external_id'], on_missing: 'fail' },
      ]);
      expect(summary).toEqual({ total: 7, succeeded: 7, failed: 0 });
      const [{ data: created }] = items;
      const { matched_by: _, ...record } = created;
      const shown = (value: Json) => ({ ...record, [field]: value, matched_by: 'external_id' });
      const first = record[field];
      expect(items).toEqual([
        { index: 0, status: 'created', data: { ...record, matched_by: null } },
        { index: 1, status: 'unchanged', data: shown(first) },
        { index: 2, status: 'updated', data: shown('One') },
        { index: 3, status: 'unchanged', data: shown('One') },
        { index: 4, status: 'unchanged', data: shown('One') },
        { index: 5, status: 'unchanged', data: shown('One') },
        { index: 6, status: 'updated', data: shown('Four') },
      ]);
      expect(record.updated_at).toBe(at());
      expect(await api.fetch(resource, record.id)).toEqual({ ...record, [field]: 'Four' });
      const ids = await api.list(`/${resource}/${record.id}/external_ids`);
      expect(ids).toEqual([{ ...external_id, created_at: at() }]);
    });

    test('created ones are in the order of their items', async () => {
      const bodies = Array.from({ length: 100 }, () => ({
        ...{ ...minimalBody(resource), external_id: externalId() },
      }));
      const made = await batchUpsert(resource, bodies);
      const ids: string[] = made.items.map((item: Json) => item.data.id);
      expect(await api.ids(`/${resource}?limit=100`)).toEqual(ids.toReversed());
      const again = await batchUpsert(resource, bodies);
      expect(new Set(outcomesOf(again))).toEqual(new Set(['unchanged']));
      expect(again.items.map((item: Json) => item.data.id)).toEqual(ids);
    });

    test('faults and conflicts are those of the single upsert, and harm no other item', async () => {
      const [mine, others] = [externalId('one'), externalId('two')];
      const holder = await batchUpsert(resource, [{ ...minimalBody(resource), external_id: others }]);
      const good = { ...minimalBody(resource), external_id: mine };
      const bad = [
        { ...good, nonsense: 1 },
        { [field]: 'X' },
        { ...good, external_id: others, match: ['external_id'], [field]: 5 },
        { external_id: externalId('three') },
        { ...good, external_id: externalId(), on_missing: 'fail' },
      ];
      const data = await batchUpsert(resource, [...bad, good, null, 'x']);
      expect(data.summary).toEqual({ total: 8, succeeded: 1, failed: 7 });
      expect(data.items[5].status).toBe('created');
      for (const [index, body] of bad.entries()) {
        const { details, ...error } = (await api.post(`/${resource}/upsert`, body)).body.error;
        expect(data.items[index].error).toEqual({ ...error, ...(details !== null && { details }) });
      }
      const twice = { ...good, external_id: externalId('one') };
      const [id] = [data.items[5].data.id];
      expect(outcomesOf(await batchUpsert(resource, [good, twice]))).toEqual(['unchanged', 'created']);
      expect(holder.items[0].data.id).not.toBe(id);
    });
  });
}

test('none is an empty batch, and more than one hundred, or no array, is refused', async () => {
  expect(await batchUpsert('contacts', [])).toEqual({
    items: [],
    summary: { total: 0, succeeded: 0, failed: 0 },
  });
  const items = Array.from({ length: 101 }, () => ({ email: uniqueEmail() }));
  expectFault(await api.post('/contacts/batch/upsert', items), 'VALIDATION_OUT_OF_RANGE', '');
  for (const body of [{}, items[0], null])
    expectFault(await api.post('/contacts/batch/upsert', body), 'VALIDATION_FAILED', '');
});

describe('items see each other', () => {
  test('by email and domain, in any spelling', async () => {
    const email = uniqueEmail();
    const contacts = await batchUpsert('contacts', [
      { email },
      { email: email.toUpperCase(), on_match: 'keep' },
      { email, title: 'T' },
      { first_name: 'X', alt_emails: [email], external_id: externalId() },
    ]);
    expect(outcomesOf(contacts)).toEqual(['created', 'unchanged', 'updated', 'RESOURCE_CONFLICT']);
    const [first, , , last] = contacts.items;
    expect(last.error.details[0]).toMatchObject({ path: 'alt_emails.0', existing_id: first.data.id });
    const companies = await batchUpsert('companies', [
      { domain: 'batch.upsert.example' },
      { domain: 'https://www.batch.upsert.example/', name: 'N' },
    ]);
    expect(outcomesOf(companies)).toEqual(['created', 'updated']);
    expect(companies.items[1].data.matched_by).toBe('domain');
  });

  test('a value that an item gives up finds nothing, and one that it takes finds its record', async () => {
    const [one, two, alt, external_id] = [uniqueEmail(), uniqueEmail(), uniqueEmail(), externalId()];
    const { id } = await api.create('contacts', { email: one, first_name: 'A' });
    await api.post(`/contacts/${id}/external_ids`, external_id);
    const { items } = await batchUpsert('contacts', [
      { external_id, email: two, alt_emails: [alt] },
      { email: one, title: 'New' },
      { email: two, title: 'Old' },
      { email: alt, phone: '1' },
      { email: alt, on_missing: 'fail' },
    ]);
    expect(items.map((item: Json) => [item.status, item.data.matched_by, item.data.id === id])).toEqual([
      ['updated', 'external_id', true],
      ['created', null, false],
      ['updated', 'email', true],
      ['updated', 'email', true],
      ['unchanged', 'email', true],
    ]);
    expect(items[3].data).toMatchObject({ email: two, alt_emails: [alt], title: 'Old', phone: '1' });
  });

  test('an external ID added by one item finds the record for the next', async () => {
    const [email, first, second] = [uniqueEmail(), externalId('one'), externalId('two')];
    const data = await batchUpsert('contacts', [
      { email },
      { email, external_id: first },
      { external_id: first, title: 'T' },
      { external_id: second, email },
      { external_id: second, on_missing: 'fail' },
      { external_id: externalId('one'), email },
      { external_id: second, email: uniqueEmail(), match: ['email'] },
    ]);
    expect(outcomesOf(data)).toEqual([
      ...['created', 'updated', 'updated', 'updated', 'unchanged'],
      ...['RESOURCE_CONFLICT', 'RESOURCE_CONFLICT'],
    ]);
    const [{ data: contact }] = data.items;
    expect(data.items[6].error.details[0]).toMatchObject({ path: 'external_id', existing_id: contact.id });
    expect(data.items[2].data.matched_by).toBe('external_id');
  });

  test('fail does not find what an item before it did not make', async () => {
    const email = uniqueEmail();
    const data = await batchUpsert('contacts', [
      { email, on_missing: 'fail' },
      { email, company_id: 'absent' },
      { email, on_missing: 'fail' },
      { email },
      { email, on_missing: 'fail' },
    ]);
    expect(outcomesOf(data)).toEqual([
      ...['RESOURCE_NOT_FOUND', 'VALIDATION_FAILED', 'RESOURCE_NOT_FOUND', 'created', 'unchanged'],
    ]);
  });

  test('fail finds what the only other item made', async () => {
    const [email, name] = [uniqueEmail(), uniqueEmail()];
    for (const [resource, body] of [
      ['contacts', { email }],
      ['companies', { domain: `${name.split('@')[0]}.example` }],
      ['deals', { name, external_id: { source: 'only-other', id: name } }],
    ] as const) {
      const data = await batchUpsert(resource, [body, { ...body, on_missing: 'fail' }]);
      expect(outcomesOf(data)).toEqual(['created', 'unchanged']);
    }
  });

  test('an item that is refused adds no external ID', async () => {
    const [external_id, email] = [externalId(), uniqueEmail()];
    const data = await batchUpsert('contacts', [
      { email, external_id, company_id: 'absent' },
      { email: uniqueEmail(), external_id, match: ['email'] },
      { email, external_id, match: ['email'] },
    ]);
    expect(outcomesOf(data)).toEqual(['VALIDATION_FAILED', 'created', 'RESOURCE_CONFLICT']);
  });

  test('a hundred items of one email make one record', async () => {
    const email = uniqueEmail();
    const data = await batchUpsert(
      'contacts',
      Array.from({ length: 100 }, (_, index) => ({ email, title: `T${index}` })),
    );
    expect(outcomesOf(data)).toEqual(['created', ...Array(99).fill('updated')]);
    expect(data.items.map((item: Json) => item.data.title)).toEqual(
      Array.from({ length: 100 }, (_, index) => `T${index}`),
    );
    expect(new Set(data.items.map((item: Json) => item.data.id)).size).toBe(1);
  });

  test('notes find their parents, and move without a cycle', async () => {
    const [a, b, c] = [externalId(), externalId(), externalId()];
    const made = await batchUpsert('notes', [
      { title: 'A', external_id: a },
      { title: 'B', external_id: b },
    ]);
    const [{ id: idA }, { id: idB }] = made.items.map((item: Json) => item.data);
    const data = await batchUpsert('notes', [
      { external_id: a, parent_id: idB },
      { title: 'C', external_id: c, parent_id: idA },
      { external_id: b, parent_id: idA },
      { external_id: c, parent_id: idB },
    ]);
    expect(outcomesOf(data)).toEqual(['updated', 'created', 'VALIDATION_FAILED', 'updated']);
    expect((await api.fetch('notes', idA)).parent_id).toBe(idB);
  });

  test('a new note below one that moves counts for its depth', async () => {
    let parent: string | null = null;
    for (let level = 0; level < 98; level++)
      parent = (await api.create('notes', { title: 'N', parent_id: parent })).id;
    const [a, b] = [externalId(), externalId()];
    const made = await batchUpsert('notes', [{ title: 'A', external_id: a }]);
    const [{ id }] = made.items.map((item: Json) => item.data);
    const below = await batchUpsert('notes', [
      { title: 'B', external_id: b, parent_id: id },
      { title: 'C', external_id: externalId(), parent_id: id },
      { external_id: a, parent_id: parent },
    ]);
    expect(outcomesOf(below)).toEqual(['created', 'created', 'updated']);
    const { items } = below;
    const deeper = await batchUpsert('notes', [
      { title: 'D', external_id: externalId(), parent_id: items[0].data.id },
      { external_id: a, parent_id: null },
      { title: 'E', external_id: externalId(), parent_id: items[0].data.id },
      { external_id: a, parent_id: parent },
    ]);
    expect(outcomesOf(deeper)).toEqual([
      ...['VALIDATION_OUT_OF_RANGE', 'updated', 'created', 'VALIDATION_OUT_OF_RANGE'],
    ]);
  });
});

test('hidden records conflict, and with fail answer as absent ones', async () => {
  const email = uniqueEmail();
  await api.create('contacts', { email, owner_id: harness.bob });
  const data = await batchUpsert(
    'contacts',
    [
      { email },
      { email, on_missing: 'fail' },
      { email: uniqueEmail(), on_missing: 'fail' },
      { email: uniqueEmail(), owner_id: harness.bob },
      { email: uniqueEmail() },
    ],
    user,
  );
  expect(outcomesOf(data)).toEqual([
    ...['RESOURCE_CONFLICT', 'RESOURCE_NOT_FOUND', 'RESOURCE_NOT_FOUND', 'OPERATION_FORBIDDEN', 'created'],
  ]);
  expect(data.items[0].error.details[0]).not.toHaveProperty('existing_id');
  expect(data.items[1].error).toEqual(data.items[2].error);
});

test('a key without read sees what it created, and only the ID of what it found', async () => {
  const writer = await api.withKey({ scopes: ['contacts:write'] });
  const [email, other] = [uniqueEmail(), uniqueEmail()];
  const { id } = await api.create('contacts', { email });
  const { items } = await batchUpsert(
    'contacts',
    [{ email, title: 'T' }, { email: other }, { email: other }],
    writer,
  );
  expect(items[0]).toEqual({ index: 0, status: 'updated', data: { id, matched_by: 'email' } });
  expect(items[1].data).toEqual({ ...(await api.fetch('contacts', items[1].data.id)), matched_by: null });
  expect(items[2].data).toEqual({ id: items[1].data.id, matched_by: 'email' });
});

test('stages of a pipeline keep their identity from item to item', async () => {
  const external_id = externalId();
  const stages = [{ name: 'A' }, { name: 'B' }];
  const { items } = await batchUpsert('pipelines', [
    { name: 'P', external_id, stages },
    { external_id, stages },
    { external_id, stages: [{ name: 'B' }, { name: 'C' }] },
    { external_id, stages },
  ]);
  expect(items.map((item: Json) => item.status)).toEqual(['created', 'unchanged', 'updated', 'updated']);
  const [a, b] = items[0].data.stages;
  expect(items[2].data.stages[0]).toEqual({ ...b, position: 0 });
  expect(items[3].data.stages[1]).toEqual({ ...b, position: 1 });
  expect(items[3].data.stages[0].id).not.toBe(a.id);
});

test('only the items for which the quota has no room are refused', async () => {
  const own = await startHarness();
  try {
    const client = clientOf(own);
    await setQuota(own, { records: (await recordTotalsOf(own)).records + 2 });
    const item = (email: string) => ({ email: `${email}@mail.example` });
    const send = async (...items: Json[]) =>
      outcomesOf((await client.post('/contacts/batch/upsert', items)).body.data);
    expect(await send(item('a'), item('b'), item('a'), item('c'), item('b'))).toEqual([
      ...['created', 'created', 'unchanged', 'OPERATION_FORBIDDEN', 'unchanged'],
    ]);
    const clash = { source: 's', id: '1' };
    await client.post('/contacts/upsert', { ...item('a'), external_id: clash });
    await setQuota(own, { records: (await recordTotalsOf(own)).records + 1 });
    const refused = { ...item('d'), external_id: clash, match: ['email'] };
    expect(await send(refused, item('e'), item('f'))).toEqual([
      ...['RESOURCE_CONFLICT', 'created', 'OPERATION_FORBIDDEN'],
    ]);
    expect(await countedIn(own)).toEqual(await recordTotalsOf(own));
  } finally {
    await own.close();
  }
});

test('batches at once with the same emails make each record once', async () => {
  const emails = Array.from({ length: 20 }, () => uniqueEmail());
  const batches = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      batchUpsert(
        'contacts',
        emails.map((email) => ({ email, title: `T${index}` })),
      ),
    ),
  );
  const made = batches.flatMap(({ items }) => items.filter((item: Json) => item.status === 'created'));
  expect(made).toHaveLength(20);
  expect(new Set(made.map((item: Json) => item.data.id)).size).toBe(20);
});

test('a dry run writes nothing, and a repeated request is answered as the first', async () => {
  const body = [{ email: uniqueEmail() }, { email: uniqueEmail(), external_id: externalId() }];
  const send = (headers: Record<string, string>) =>
    harness.send('POST', '/api/v2/contacts/batch/upsert', { headers, body });
  const tried = await send({ 'Dry-Run': 'true' });
  expect(outcomesOf(tried.body.data)).toEqual(['created', 'created']);
  expect(await api.ids(`/contacts?email=${body[0]?.email}`)).toEqual([]);
  const first = await send({ 'Idempotency-Key': 'batch-upsert-1' });
  const again = await send({ 'Idempotency-Key': 'batch-upsert-1' });
  expect(again.text).toBe(first.text);
  expect(outcomesOf((await send({})).body.data)).toEqual(['unchanged', 'unchanged']);
});
