// Batch update: each item as PATCH makes it, in order, each seeing those before it, and none harmed by another.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { CHANGEABLE } from '../support/contract.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { countedIn, recordTotalsOf, setQuota } from '../support/quota.ts';
import {
  ABSENT,
  type Client,
  clientOf,
  expectError,
  expectFault,
  outcomesOf,
  uniqueEmail,
} from '../support/v2.ts';

let harness: Harness;
let api: Client;
let user: Client;

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
  user = await api.withKey({ userId: harness.alice });
});
afterAll(() => harness.close());

const batchUpdate = (resource: string, items: Json, client = api) =>
  client.batch(`/${resource}/batch/update`, items);

const at = () => new Date(harness.clock.now).toISOString();
let domains = 0;
const uniqueDomain = () => `batch-update-${++domains}.example`;

for (const resource of CHANGEABLE) {
  describe(resource, () => {
    const field = ['notes', 'contacts'].includes(resource) ? 'title' : 'name';

    test('are changed as by PATCH; what changes no value is unchanged', async () => {
      const [a, b] = [await api.create(resource), await api.create(resource)];
      harness.clock.now += 1_000;
      const data = await batchUpdate(resource, [
        { id: a.id, [field]: 'Other' },
        { id: b.id, [field]: b[field] },
        { id: b.id },
      ]);
      const changed = { ...a, [field]: 'Other', updated_at: at() };
      expect(data).toEqual({
        items: [
          { index: 0, id: a.id, status: 'updated', data: changed },
          { index: 1, id: b.id, status: 'unchanged', data: b },
          { index: 2, id: b.id, status: 'unchanged', data: b },
        ],
        summary: { total: 3, succeeded: 3, failed: 0 },
      });
      expect(await api.fetch(resource, a.id)).toEqual(changed);
      expect(await api.fetch(resource, b.id)).toEqual(b);
    });

    test('a record that is sent twice is changed twice, and each item shows its own state', async () => {
      const record = await api.create(resource);
      harness.clock.now += 1_000;
      const { items } = await batchUpdate(resource, [
        { id: record.id, [field]: 'One' },
        { id: record.id, [field]: 'One' },
        { id: record.id, [field]: 'Two' },
        { id: record.id, [field]: record[field] ?? null },
      ]);
      const shown = (value: Json) => ({ ...record, [field]: value, updated_at: at() });
      expect(items.map(({ status, data }: Json) => ({ status, data }))).toEqual([
        { status: 'updated', data: shown('One') },
        { status: 'unchanged', data: shown('One') },
        { status: 'updated', data: shown('Two') },
        { status: 'updated', data: shown(record[field]) },
      ]);
      expect(await api.fetch(resource, record.id)).toEqual(shown(record[field]));
    });

    test('each fault is told as PATCH tells it, and the other items are changed', async () => {
      const [record, good] = [await api.create(resource), await api.create(resource)];
      const bad = [{ nonsense: 1 }, { [field]: 5 }, { created_at: 'x', [field]: 'x'.repeat(1_001) }];
      const { items, summary } = await batchUpdate(resource, [
        ...bad.map((body) => ({ id: record.id, ...body })),
        { id: ABSENT, [field]: 'Other' },
        { id: good.id, [field]: 'Other' },
      ]);
      expect(summary).toEqual({ total: 5, succeeded: 1, failed: 4 });
      for (const [index, body] of bad.entries()) {
        const { error } = (await api.patch(`/${resource}/${record.id}`, body)).body;
        const named = (text: string) => text.replaceAll('allowed: id, ', 'allowed: ');
        expect(JSON.parse(named(JSON.stringify(items[index].error)))).toEqual(error);
      }
      const missing = (await api.patch(`/${resource}/${ABSENT}`, { [field]: 'Other' })).body.error;
      expect(items[3].error).toEqual({ code: missing.code, message: missing.message });
      expect(items[4]).toMatchObject({ status: 'updated', data: { id: good.id, [field]: 'Other' } });
      expect(await api.fetch(resource, record.id)).toEqual(record);
    });

    test('an item needs the id of its record, and takes nothing that finds one', async () => {
      const { id } = await api.create(resource);
      const { items } = await batchUpdate(resource, [
        { [field]: 'Other' },
        { id: 5, [field]: 'Other' },
        { id: null },
        null,
        [],
        { id, external_id: { source: 'a', id: '1' } },
        { id, match: ['external_id'] },
        { id, on_match: 'fill' },
      ]);
      expect(items.map((item: Json) => item.id)).toEqual([...Array(5).fill(undefined), id, id, id]);
      const details = items.map((item: Json) => item.error.details[0]);
      expect(details.map(({ path, code }: Json) => [path, code])).toEqual([
        ['id', 'VALIDATION_REQUIRED_FIELD'],
        ['id', 'VALIDATION_FAILED'],
        ['id', 'VALIDATION_FAILED'],
        ['', 'VALIDATION_FAILED'],
        ['', 'VALIDATION_FAILED'],
        ['external_id', 'VALIDATION_FAILED'],
        ['match', 'VALIDATION_FAILED'],
        ['on_match', 'VALIDATION_FAILED'],
      ]);
    });
  });
}

test('none is an empty batch, and more than one hundred, or no array, is refused', async () => {
  expect(await batchUpdate('contacts', [])).toEqual({
    items: [],
    summary: { total: 0, succeeded: 0, failed: 0 },
  });
  const { id } = await api.create('contacts');
  const item = (index: number) => ({ id, title: `T${index}` });
  const items = Array.from({ length: 101 }, (_, index) => item(index));
  expectFault(await api.post('/contacts/batch/update', items), 'VALIDATION_OUT_OF_RANGE', '');
  expect((await batchUpdate('contacts', items.slice(1))).summary.succeeded).toBe(100);
  expect((await api.fetch('contacts', id)).title).toBe('T100');
  for (const body of [{}, item(0), null])
    expectFault(await api.post('/contacts/batch/update', body), 'VALIDATION_FAILED', '');
});

test('values of every kind reach each of many records', async () => {
  const company = await api.create('companies');
  const rounds: [string, Json[]][] = [
    [
      'contacts',
      [
        { keep_in_touch: true, custom: { a: 1.5, b: 'ü"\\', c: false } },
        { keep_in_touch: false, custom: { a: null, d: '' } },
        { company_id: company.id, title: '', remarks: '€'.repeat(10_000) },
        { company_id: null, title: null, remarks: 'x'.repeat(300) },
      ],
    ],
    [
      'companies',
      [
        { employee_count: 2 ** 53 - 1, estimated_revenue: -0.1, name: 'É'.repeat(300) },
        { employee_count: 0, estimated_revenue: 1e15, name: 'A' },
        { employee_count: null, estimated_revenue: null, owner_id: harness.alice },
      ],
    ],
    [
      'tasks',
      [{ due_date: 1_767_225_600_000, done: true }, { due_date: -1, done: false }, { due_date: null }],
    ],
    [
      'deals',
      [
        { estimated_close_date: '2026-03-31', currency: 'EUR' },
        { currency: null, estimated_value: 0.5 },
      ],
    ],
    [
      'notes',
      [
        { content: 'x'.repeat(50_000), is_archived: true },
        { content: null, title: "'; --" },
      ],
    ],
  ];
  for (const [resource, bodies] of rounds) {
    const items = Array.from({ length: 30 }, () => ({ ...(resource === 'contacts' && { first_name: 'A' }) }));
    const made: Json[] = [];
    for (const item of items)
      made.push(await api.create(resource, Object.keys(item).length > 0 ? item : undefined));
    const others = await api.create(resource);
    for (const body of bodies) {
      const data = await batchUpdate(
        resource,
        made.map(({ id }) => ({ id, ...body })),
      );
      for (const [index, item] of data.items.entries()) {
        expect(item.status).toBe('updated');
        const { custom: sent, ...rest } = body;
        expect(item.data).toMatchObject({ ...rest, updated_at: at() });
        const custom = { ...made[index].custom, ...sent };
        for (const name of Object.keys(custom)) if (custom[name] === null) delete custom[name];
        if (item.data.custom !== undefined) expect(item.data.custom).toEqual(custom);
        expect(await api.fetch(resource, item.data.id)).toEqual(item.data);
        made[index] = item.data;
      }
    }
    expect(await api.fetch(resource, others.id)).toEqual(others);
  }
});

test('items that change other fields are written each with its own', async () => {
  const [a, b, c, d] = [
    await api.create('contacts'),
    await api.create('contacts'),
    await api.create('contacts'),
    await api.create('contacts'),
  ];
  const email = uniqueEmail();
  const { items } = await batchUpdate('contacts', [
    { id: a.id, title: 'A' },
    { id: b.id, phone: '1' },
    { id: c.id, title: 'C' },
    { id: d.id, email, title: 'D' },
  ]);
  for (const { data } of items) expect(await api.fetch('contacts', data.id)).toEqual(data);
  expect(items.map(({ data }: Json) => [data.title, data.phone, data.email])).toEqual([
    ['A', null, null],
    [null, '1', null],
    ['C', null, null],
    ['D', null, email],
  ]);
});

describe('unique values', () => {
  test('a conflict is the error of its item, with the record that has the value', async () => {
    const [a, b] = [
      await api.create('contacts', { email: uniqueEmail() }),
      await api.create('contacts', { email: uniqueEmail() }),
    ];
    const { items } = await batchUpdate('contacts', [
      { id: a.id, email: b.email.toUpperCase() },
      { id: a.id, alt_emails: [uniqueEmail(), b.email] },
      { id: b.id, title: 'T' },
    ]);
    const message = 'another contact has this email';
    const detail = (path: string) => ({ path, message, code: 'RESOURCE_CONFLICT', existing_id: b.id });
    expect(items[0].error.details).toEqual([detail('email')]);
    expect(items[1].error.details).toEqual([detail('alt_emails.1')]);
    expect(items[2].status).toBe('updated');
    expect(await api.fetch('contacts', a.id)).toEqual(a);
  });

  test('a hidden owner is not named', async () => {
    const hidden = await api.create('contacts', { email: uniqueEmail(), owner_id: harness.bob });
    const mine = await user.create('contacts');
    const { items } = await batchUpdate('contacts', [{ id: mine.id, email: hidden.email }], user);
    expect(items[0].error.details).toEqual([
      { path: 'email', message: 'another contact has this email', code: 'RESOURCE_CONFLICT' },
    ]);
  });

  test('what an earlier item takes is taken, and what it gives up is free', async () => {
    const [one, two, free] = [uniqueEmail(), uniqueEmail(), uniqueEmail()];
    const a = await api.create('contacts', { email: one, first_name: 'A' });
    const b = await api.create('contacts', { email: two, first_name: 'B' });
    const c = await api.create('contacts', { first_name: 'C' });
    const data = await batchUpdate('contacts', [
      { id: b.id, email: one },
      { id: a.id, email: free },
      { id: b.id, email: one },
      { id: c.id, email: free },
      { id: c.id, alt_emails: [two] },
      { id: a.id, email: null },
      { id: b.id, alt_emails: [free] },
    ]);
    expect(outcomesOf(data)).toEqual([
      'RESOURCE_CONFLICT',
      'updated',
      'updated',
      'RESOURCE_CONFLICT',
      'updated',
      'updated',
      'updated',
    ]);
    expect(data.items[3].error.details[0].existing_id).toBe(a.id);
    for (const [email, id] of [
      [one, b.id],
      [two, c.id],
      [free, b.id],
    ])
      expect(await api.ids(`/contacts?email=${email}`)).toEqual([id]);
    expect(await api.fetch('contacts', a.id)).toMatchObject({ email: null, alt_emails: [] });
  });

  test('two companies exchange their domains', async () => {
    const [x, y] = [uniqueDomain(), uniqueDomain()];
    const a = await api.create('companies', { domain: x, name: 'A' });
    const b = await api.create('companies', { domain: y, name: 'B' });
    const data = await batchUpdate('companies', [
      { id: a.id, domain: `https://www.${y}/` },
      { id: a.id, domain: null },
      { id: b.id, domain: x },
      { id: a.id, domain: y },
    ]);
    expect(outcomesOf(data)).toEqual(['RESOURCE_CONFLICT', 'updated', 'updated', 'updated']);
    expect((await api.fetch('companies', a.id)).domain).toBe(y);
    expect((await api.fetch('companies', b.id)).domain).toBe(x);
  });

  test('a change that is refused neither takes nor gives up a value', async () => {
    const [one, two] = [uniqueEmail(), uniqueEmail()];
    const a = await api.create('contacts', { email: one });
    const b = await api.create('contacts', { first_name: 'B' });
    const data = await batchUpdate('contacts', [
      { id: a.id, email: two, company_id: ABSENT },
      { id: b.id, email: two },
      { id: b.id, email: one },
    ]);
    expect(outcomesOf(data)).toEqual(['VALIDATION_FAILED', 'updated', 'RESOURCE_CONFLICT']);
  });
});

test('a record must keep an identifying field, whatever order its fields go in', async () => {
  const email = uniqueEmail();
  const { id } = await api.create('contacts', { email });
  const data = await batchUpdate('contacts', [
    { id, email: null },
    { id, phone: '1' },
    { id, email: null },
    { id, phone: null },
  ]);
  expect(outcomesOf(data)).toEqual([
    'VALIDATION_REQUIRED_FIELD',
    'updated',
    'updated',
    'VALIDATION_REQUIRED_FIELD',
  ]);
});

test('custom is merged, item after item', async () => {
  const { id } = await api.create('contacts', { first_name: 'A', custom: { a: 1, b: 2 } });
  const { items } = await batchUpdate('contacts', [
    { id, custom: { a: null, c: 3 } },
    { id, custom: { c: 3 } },
    { id, custom: null },
    { id, custom: { d: 4 } },
  ]);
  expect(items.map((item: Json) => [item.status, item.data.custom])).toEqual([
    ['updated', { b: 2, c: 3 }],
    ['unchanged', { b: 2, c: 3 }],
    ['updated', {}],
    ['updated', { d: 4 }],
  ]);
});

test('a reference is checked in each item, also where it is what an earlier item replaced', async () => {
  const [one, two] = [await api.create('companies'), await api.create('companies')];
  const hidden = await api.create('companies', { name: 'H', owner_id: harness.bob });
  const mine = await api.create('contacts', {
    ...{ first_name: 'A', owner_id: harness.alice, company_id: hidden.id },
  });
  const { id } = await api.create('contacts', { first_name: 'A', company_id: one.id });
  const data = await batchUpdate('contacts', [
    { id, company_id: two.id },
    { id, company_id: one.id },
    { id, company_id: ABSENT },
  ]);
  expect(outcomesOf(data)).toEqual(['updated', 'updated', 'VALIDATION_FAILED']);
  const own = await user.create('companies');
  const seen = await batchUpdate(
    'contacts',
    [
      { id: mine.id, company_id: hidden.id, title: 'T' },
      { id: mine.id, company_id: own.id },
      { id: mine.id, company_id: hidden.id },
    ],
    user,
  );
  expect(outcomesOf(seen)).toEqual(['updated', 'updated', 'VALIDATION_FAILED']);
});

describe('notes', () => {
  const chain = async (count: number) => {
    const notes: Json[] = [];
    for (let index = 0; index < count; index++)
      notes.push(await api.create('notes', { title: `N${index}`, parent_id: notes.at(-1)?.id ?? null }));
    return notes;
  };

  test('make no cycle by items that would each be good alone', async () => {
    const [a, b, c] = [await api.create('notes'), await api.create('notes'), await api.create('notes')];
    const data = await batchUpdate('notes', [
      { id: a.id, parent_id: b.id },
      { id: b.id, parent_id: a.id },
      { id: b.id, parent_id: c.id },
      { id: c.id, parent_id: a.id },
      { id: a.id, parent_id: a.id },
    ]);
    expect(outcomesOf(data)).toEqual([
      'updated',
      'VALIDATION_FAILED',
      'updated',
      'VALIDATION_FAILED',
      'VALIDATION_FAILED',
    ]);
    const parents = [a, b, c].map(async ({ id }) => (await api.fetch('notes', id)).parent_id);
    expect(await Promise.all(parents)).toEqual([b.id, c.id, null]);
  });

  test('change places in a tree when the items say so in order', async () => {
    const [top, below] = await chain(2);
    const data = await batchUpdate('notes', [
      { id: top.id, parent_id: below.id },
      { id: below.id, parent_id: null },
      { id: top.id, parent_id: below.id },
    ]);
    expect(outcomesOf(data)).toEqual(['VALIDATION_FAILED', 'updated', 'updated']);
  });

  test('nest no deeper than they may, counting what earlier items moved', async () => {
    const deep = await chain(99);
    const [a, b] = await chain(2);
    const data = await batchUpdate('notes', [
      { id: b.id, parent_id: null },
      { id: a.id, parent_id: b.id },
      { id: b.id, parent_id: deep[98].id },
      { id: a.id, parent_id: null },
      { id: b.id, parent_id: deep[98].id },
      { id: a.id, parent_id: b.id },
    ]);
    expect(outcomesOf(data)).toEqual([
      'updated',
      'updated',
      'VALIDATION_OUT_OF_RANGE',
      'updated',
      'updated',
      'VALIDATION_OUT_OF_RANGE',
    ]);
  });
});

test('a deal goes from stage to stage, and shows what each item made of it', async () => {
  const deal = await api.create('deals', { name: 'D' });
  const { stages } = await api.fetch('pipelines', deal.pipeline_id);
  const [, second, , , won] = stages;
  const other = await api.create('pipelines', {
    name: 'O',
    stages: [{ name: 'X' }, { name: 'Y', type: 'lost' }],
  });
  const { id } = deal;
  const { items } = await batchUpdate('deals', [
    { id, stage_id: second.id },
    { id, stage_id: won.id },
    { id, pipeline_id: other.id },
    { id, stage_id: won.id },
    { id, stage_id: other.stages[1].id },
  ]);
  expect(items.map((item: Json) => item.error?.details[0].path ?? item.data.status)).toEqual([
    'open',
    'won',
    'open',
    'stage_id',
    'lost',
  ]);
  expect(items[1].data.closed_at).toBe(at());
  expect(items[2].data).toMatchObject({ stage_id: other.stages[0].id, closed_at: null });
  expect(await api.fetch('deals', id)).toEqual(items[4].data);
});

test('stages of a pipeline are replaced item after item, and each shows its own', async () => {
  const { id, stages } = await api.create('pipelines', { name: 'P', stages: [{ name: 'A' }, { name: 'B' }] });
  const [a, b] = stages;
  const used = await api.create('deals', { name: 'D', pipeline_id: id, stage_id: b.id });
  const { items } = await batchUpdate('pipelines', [
    { id, stages: [{ id: a.id }, { id: b.id }, { name: 'C' }] },
    { id, stages: [{ id: a.id }] },
    { id, stages: [{ id: b.id, type: 'won' }, { id: a.id }] },
    { id, name: 'Q' },
  ]);
  const names = (item: Json) => item.data?.stages.map(({ name }: Json) => name);
  expect(items.map((item: Json) => item.error?.code ?? item.status)).toEqual([
    'updated',
    'RESOURCE_CONFLICT',
    'updated',
    'updated',
  ]);
  expect([0, 2, 3].map((index) => names(items[index]))).toEqual([
    ['A', 'B', 'C'],
    ['B', 'A'],
    ['B', 'A'],
  ]);
  expect(await api.fetch('pipelines', id)).toEqual(items[3].data);
  expect((await api.fetch('deals', used.id)).status).toBe('won');
});

test('done_at follows done in each item', async () => {
  const { id } = await api.create('tasks');
  const { items } = await batchUpdate('tasks', [
    { id, done: true },
    { id, done: true },
    { id, done: false },
  ]);
  expect(items.map((item: Json) => [item.status, item.data.done_at])).toEqual([
    ['updated', at()],
    ['unchanged', at()],
    ['updated', null],
  ]);
});

test("a segment's record_type cannot be changed, and its members are counted", async () => {
  const segment = await api.create('segments');
  const contact = await api.create('contacts');
  await api.post(`/segments/${segment.id}/members`, { record_id: contact.id });
  const { items } = await batchUpdate('segments', [
    { id: segment.id, record_type: 'contact' },
    { id: segment.id, name: 'Other' },
    { id: segment.id, name: 'Other' },
  ]);
  expect(items[0].error.details[0].path).toBe('record_type');
  expect(items.slice(1).map((item: Json) => [item.status, item.data.member_count])).toEqual([
    ['updated', 1],
    ['unchanged', 1],
  ]);
});

describe('a user-bound key', () => {
  test('changes its records, finds no other, and gives none away', async () => {
    const mine = await user.create('contacts');
    const bobs = await api.create('contacts', { first_name: 'B', owner_id: harness.bob });
    const { items } = await batchUpdate(
      'contacts',
      [
        { id: bobs.id, title: 'T' },
        { id: ABSENT, title: 'T' },
        { id: mine.id, owner_id: harness.bob },
        { id: mine.id, owner_id: null },
        { id: mine.id, owner_id: harness.alice },
        { id: mine.id, title: 'T' },
      ],
      user,
    );
    expect(items[0].error).toEqual(items[1].error);
    expect(items.slice(2).map((item: Json) => item.error?.code ?? item.status)).toEqual([
      'OPERATION_FORBIDDEN',
      'OPERATION_FORBIDDEN',
      'unchanged',
      'updated',
    ]);
    expect(await api.fetch('contacts', bobs.id)).toEqual(bobs);
  });

  test('changes no pipelines', async () => {
    const { id } = await api.create('pipelines');
    const reply = await user.post('/pipelines/batch/update', [{ id, name: 'Q' }]);
    expectError(reply, 403, 'OPERATION_FORBIDDEN');
  });
});

test('only the item for which the quota has no room is refused, and what is counted stays exact', async () => {
  const own = await startHarness();
  try {
    const client = clientOf(own);
    const [a, b, c] = [
      await client.create('notes', { title: 'a', content: 'x'.repeat(100) }),
      await client.create('notes', { title: 'b' }),
      await client.create('notes', { title: 'c' }),
    ];
    const bytes = (await recordTotalsOf(own)).bytes + 50;
    await setQuota(own, { bytes });
    const { data } = (
      await client.post('/notes/batch/update', [
        { id: b.id, content: 'x'.repeat(60) },
        { id: c.id, content: 'x'.repeat(40) },
        { id: b.id, content: 'x'.repeat(60), parent_id: ABSENT },
        { id: a.id, content: null },
        { id: b.id, content: 'x'.repeat(60) },
      ])
    ).body;
    expect(outcomesOf(data)).toEqual([
      'OPERATION_FORBIDDEN',
      'updated',
      'VALIDATION_FAILED',
      'updated',
      'updated',
    ]);
    expect(data.items[0].error.details[0].path).toBe('quota.bytes');
    expect(await countedIn(own)).toEqual(await recordTotalsOf(own));
  } finally {
    await own.close();
  }
});

test('a dry run changes nothing, and a repeated request is answered as the first', async () => {
  const contact = await api.create('contacts');
  const send = (headers: Record<string, string>, title: string) => {
    const body = [{ id: contact.id, title }];
    return harness.send('POST', '/api/v2/contacts/batch/update', { headers, body });
  };
  const tried = await send({ 'Dry-Run': 'true' }, 'Tried');
  expect(tried.body.data.items[0]).toMatchObject({ status: 'updated', data: { title: 'Tried' } });
  expect(await api.fetch('contacts', contact.id)).toEqual(contact);
  const first = await send({ 'Idempotency-Key': 'update-1' }, 'T');
  await api.update('contacts', contact.id, { title: 'Later' });
  const again = await send({ 'Idempotency-Key': 'update-1' }, 'T');
  expect(again.text).toBe(first.text);
  expect((await api.fetch('contacts', contact.id)).title).toBe('Later');
});
