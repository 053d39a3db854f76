// What links in bulk accept: query parameters, cursors, items and their own fields; associations of meetings; repeated and dry runs.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { linkTable, tableOf } from '../../db/engine/schema.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { insertReadOnly } from '../support/read-only.ts';
import { type Client, clientOf, expectError, expectFault, outcomesOf } from '../support/v2.ts';

const NAMES = [
  'deals.contacts',
  'deals.companies',
  'notes.records',
  'segments.members',
  'meetings.deal',
  'meetings.company',
];

let harness: Harness;
let api: Client;

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

const at = () => new Date(harness.clock.now).toISOString();
const idOf = async (resource: string, body?: Json): Promise<string> => (await api.create(resource, body)).id;
const link = (items: Json) => api.batch('/links/batch', items);
const unlink = (items: Json) => api.batch('/links/batch/delete', items);

describe('the query of a list', () => {
  test('needs a kind, and names them all where it is missing or unknown', async () => {
    const all = `must be one of: ${NAMES.join(', ')}`;
    for (const [query, code, message] of [
      ['', 'VALIDATION_REQUIRED_FIELD', `is required and ${all}`],
      ['?', 'VALIDATION_REQUIRED_FIELD', `is required and ${all}`],
      ['?of=deals', 'VALIDATION_FAILED', all],
      ['?of=deals.members', 'VALIDATION_FAILED', all],
      ['?of=', 'VALIDATION_FAILED', 'must not be empty'],
      ['?of=deals.contacts&of=deals.contacts', 'VALIDATION_FAILED', 'must be sent only once'],
    ] as const) {
      const reply = await api.get(`/links${query}`);
      expectFault(reply, code, 'of');
      expect(reply.body.error.details[0].message).toBe(message);
    }
    expectError(await api.get('/links?limit=0'), 422, 'VALIDATION_FAILED', 'of', 'limit');
  });

  test('takes up to a hundred parents, in any order and repeated, and nothing else', async () => {
    const of = '/links?of=notes.records';
    const parents = (count: number) => '&parent_id=x'.repeat(count);
    expect(await api.list(of + parents(100))).toEqual([]);
    expectFault(await api.get(of + parents(101)), 'VALIDATION_OUT_OF_RANGE', 'parent_id');
    expectFault(await api.get(`${of}&parent_id=x&parent_id=`), 'VALIDATION_FAILED', 'parent_id');
    expectFault(await api.get(`${of}&parent_id=%zz`), 'VALIDATION_INVALID_FORMAT', 'parent_id');
    expectFault(await api.get(`${of}&parent_id=x%00`), 'VALIDATION_FAILED', 'parent_id');
    for (const query of ['sort_by=created_at', 'id=x', 'created_since=0', 'record_type=contact'])
      expectFault(await api.get(`${of}&${query}`), 'VALIDATION_FAILED', String(query.split('=')[0]));
    for (const limit of [0, 201])
      expectFault(await api.get(`${of}&limit=${limit}`), 'VALIDATION_OUT_OF_RANGE', 'limit');
  });

  test('a page has twenty links unless said otherwise', async () => {
    const [deal, ids] = [await idOf('deals'), [] as string[]];
    for (let count = 0; count < 21; count++) ids.push(await idOf('contacts'));
    await link(ids.map((id) => ({ of: 'deals.contacts', parent_id: deal, id })));
    const page = await api.get('/links?of=deals.contacts');
    expect([page.body.data.length, page.body.page_info.has_next_page]).toEqual([20, true]);
    expect(await api.list('/links?of=deals.contacts&limit=200')).toHaveLength(21);
  });

  test('a cursor belongs to its kind and its set of parents', async () => {
    const [one, two] = [await idOf('deals'), await idOf('deals')];
    const [contact, company] = [await idOf('contacts'), await idOf('companies')];
    await link(
      [one, two].flatMap((parent_id) => [
        { of: 'deals.contacts', parent_id, id: contact },
        { of: 'deals.companies', parent_id, id: company },
      ]),
    );
    const of = '/links?of=deals.contacts';
    const both = `${of}&parent_id=${one}&parent_id=${two}`;
    const { end_cursor } = (await api.get(`${both}&limit=1`)).body.page_info;
    const rest = await api.list(`${both}&cursor=${end_cursor}`);
    expect(rest).toHaveLength(1);
    const turned = `${of}&parent_id=${two}&parent_id=${one}&parent_id=${two}&cursor=${end_cursor}`;
    expect(await api.list(turned)).toEqual(rest);
    const other = await api.withKey({ orgNumber: harness.otherOrgNumber });
    for (const [client, path] of [
      [api, of],
      [api, `${of}&parent_id=${one}`],
      [api, both.replace('deals.contacts', 'deals.companies')],
      [api, `/deals/${one}/contacts?limit=1`],
      [api, '/contacts?limit=1'],
      [other, both],
    ] as const)
      expectFault(await client.get(`${path}&cursor=${end_cursor}`), 'VALIDATION_INVALID_FORMAT', 'cursor');
    const spoiled = `${end_cursor.slice(0, -1)}${end_cursor.endsWith('A') ? 'B' : 'A'}`;
    for (const cursor of ['x', spoiled])
      expectFault(await api.get(`${both}&cursor=${cursor}`), 'VALIDATION_INVALID_FORMAT', 'cursor');
  });
});

describe('an item', () => {
  const PATHS = ['/links/batch', '/links/batch/delete'];
  const faultsOf = async (path: string, item: Json) => {
    const { items } = await api.batch(path, [item]);
    expect(items[0].status).toBe('error');
    return items[0].error.details.map((detail: Json) => `${detail.path} ${detail.code}`).sort();
  };

  for (const path of PATHS) {
    test(`of ${path} names kind, parent and record`, async () => {
      const whole = { of: 'deals.companies', parent_id: 'x', id: 'x' };
      expect(await faultsOf(path, {})).toEqual(
        ['id', 'of', 'parent_id'].map((name) => `${name} VALIDATION_REQUIRED_FIELD`),
      );
      for (const name of ['of', 'parent_id', 'id'])
        for (const value of [null, 5, [], {}, ...(name === 'of' ? ['', 'deals'] : [])])
          expect(await faultsOf(path, { ...whole, [name]: value })).toEqual([`${name} VALIDATION_FAILED`]);
      expect(await faultsOf(path, { ...whole, id: 'x'.repeat(1_001) })).toEqual([
        'id VALIDATION_OUT_OF_RANGE',
      ]);
      for (const name of ['child_id', 'linked_at', 'company_id', 'supervisor', 'record_type'])
        expect(await faultsOf(path, { ...whole, [name]: 'contact' })).toEqual([`${name} VALIDATION_FAILED`]);
      expect(outcomesOf(await api.batch(path, [null, 'x', 5, []]))).toEqual(
        Array(4).fill('VALIDATION_FAILED'),
      );
    });

    test(`${path} takes an array of up to a hundred`, async () => {
      const zeros = { items: [], summary: { total: 0, succeeded: 0, failed: 0 } };
      expect(await api.batch(path, [])).toEqual(zeros);
      const item = { of: 'deals.contacts', parent_id: 'x', id: 'x' };
      expect((await api.batch(path, Array(100).fill(item))).summary).toEqual({
        total: 100,
        succeeded: 0,
        failed: 100,
      });
      expectFault(await api.post(path, Array(101).fill(item)), 'VALIDATION_OUT_OF_RANGE', '');
      for (const body of [item, null, 'x', { items: [] }])
        expectFault(await api.post(path, body), 'VALIDATION_FAILED', '');
      expectFault(await api.post(`${path}?x=1`, []), 'VALIDATION_FAILED', 'x');
    });
  }

  test('a record_type is needed for notes alone, must be of the record, and is not taken by an unlink', async () => {
    const [note, contact] = [await idOf('notes'), await idOf('contacts')];
    const item = { of: 'notes.records', parent_id: note, id: contact };
    expect(await faultsOf('/links/batch', item)).toEqual(['record_type VALIDATION_REQUIRED_FIELD']);
    expect(await faultsOf('/links/batch', { ...item, record_type: 'task' })).toEqual([
      'record_type VALIDATION_FAILED',
    ]);
    expect(await faultsOf('/links/batch', { ...item, record_type: 'deal' })).toEqual([
      'id VALIDATION_FAILED',
    ]);
    expect(await faultsOf('/links/batch/delete', { ...item, record_type: 'contact' })).toEqual([
      'record_type VALIDATION_FAILED',
    ]);
    const [segment, company] = [await idOf('segments'), await idOf('companies')];
    const member = { of: 'segments.members', parent_id: segment, id: company };
    expect(await faultsOf('/links/batch', { ...member, record_type: 'contact' })).toEqual([
      'record_type VALIDATION_FAILED',
    ]);
    expect(await faultsOf('/links/batch', member)).toEqual(['id VALIDATION_FAILED']);
  });

  test('a bad one affects no other, and all of them are told in order', async () => {
    const [deal, contact, company] = [await idOf('deals'), await idOf('contacts'), await idOf('companies')];
    const good = [
      { of: 'deals.contacts', parent_id: deal, id: contact },
      { of: 'deals.companies', parent_id: deal, id: company },
    ];
    const items = [{ ...good[0], nonsense: 1 }, good[0], { ...good[1], id: contact }, good[1], 5];
    const { items: results, summary } = await link(items);
    expect(results.map(({ index, status }: Json) => [index, status])).toEqual([
      [0, 'error'],
      [1, 'linked'],
      [2, 'error'],
      [3, 'linked'],
      [4, 'error'],
    ]);
    expect(summary).toEqual({ total: 5, succeeded: 2, failed: 3 });
  });
});

describe('the supervisor of a contact in a deal', () => {
  let item: Json;
  let bosses: string[];
  beforeAll(async () => {
    item = { of: 'deals.contacts', parent_id: await idOf('deals'), id: await idOf('contacts') };
    bosses = [await idOf('contacts'), await idOf('contacts')];
  });
  const stored = async () => (await api.list(`/links?of=deals.contacts&parent_id=${item.parent_id}`))[0];

  test('is kept where it is not sent, and set where it differs, the time of the link staying', async () => {
    const [one, two] = bosses;
    await link([{ ...item, supervisor: one }]);
    const first = await stored();
    expect(first).toEqual({ parent_id: item.parent_id, id: item.id, linked_at: at(), supervisor: one });
    harness.clock.now += 1_000;
    expect(outcomesOf(await link([item, { ...item, supervisor: one }]))).toEqual(['unchanged', 'unchanged']);
    expect(await stored()).toEqual(first);
    const changed = await link([{ ...item, supervisor: two }]);
    expect(changed.items).toEqual([{ index: 0, status: 'linked', data: { ...first, supervisor: two } }]);
    expect(await stored()).toEqual({ ...first, supervisor: two });
    expect(outcomesOf(await link([{ ...item, supervisor: null }]))).toEqual(['linked']);
    expect(await stored()).toEqual({ ...first, supervisor: null });
    // The single request leaves it as it is.
    const body = { contact_id: item.id, supervisor: one };
    expect((await api.post(`/deals/${item.parent_id}/contacts`, body)).body.data.supervisor).toBeNull();
  });

  test('must be a contact, also where the link is there', async () => {
    const company = await idOf('companies');
    for (const supervisor of [company, 'absent', '']) {
      const { items } = await link([{ ...item, supervisor }]);
      expect(items[0].error).toMatchObject({
        code: 'VALIDATION_FAILED',
        details: [{ path: 'supervisor', message: 'must be the ID of an existing contact' }],
      });
    }
    const both = (await link([{ ...item, id: company, supervisor: company }])).items[0].error;
    expect(both.details.map((detail: Json) => detail.path)).toEqual(['id', 'supervisor']);
  });

  test('items of one batch see each other in order', async () => {
    const [one, two] = bosses;
    const other = { ...item, id: await idOf('contacts') };
    const items = [
      other,
      other,
      { ...other, supervisor: one },
      { ...other, supervisor: one },
      { ...other, supervisor: two },
    ];
    const data = await link(items);
    expect(outcomesOf(data)).toEqual(['linked', 'unchanged', 'linked', 'unchanged', 'linked']);
    expect(data.items.map((one: Json) => one.data.supervisor)).toEqual([null, null, one, one, two]);
    const [shown] = await api.list(`/deals/${item.parent_id}/contacts`);
    expect([shown.id, shown.supervisor]).toEqual([other.id, two]);
  });
});

test('one batch links records of every kind, at one instant; the lists of each parent show the same', async () => {
  const [deal, contact, company] = [await idOf('deals'), await idOf('contacts'), await idOf('companies')];
  const [note, segment] = [await idOf('notes'), await idOf('segments')];
  const meeting = await insertReadOnly(harness, 'meetings');
  const data = await link([
    { of: 'deals.contacts', parent_id: deal, id: contact },
    { of: 'deals.companies', parent_id: deal, id: company },
    { of: 'notes.records', parent_id: note, id: deal, record_type: 'deal' },
    { of: 'segments.members', parent_id: segment, id: contact },
    { of: 'meetings.deal', parent_id: meeting, id: deal },
    { of: 'meetings.company', parent_id: meeting, id: company },
  ]);
  expect(data.summary.succeeded).toBe(6);
  const times = data.items.map((item: Json) => item.data.linked_at);
  expect(new Set(times)).toEqual(new Set([at()]));
  for (const [path, id] of [
    [`deals/${deal}/contacts`, contact],
    [`deals/${deal}/companies`, company],
    [`notes/${note}/records`, deal],
    [`segments/${segment}/members`, contact],
  ])
    expect(await api.list(`/${path}`)).toMatchObject([
      { [path?.startsWith('notes') ? 'record_id' : 'id']: id, linked_at: at() },
    ]);
  expect((await api.get(`/meetings/${meeting}/deal`)).body.data.id).toBe(deal);
  expect((await api.get(`/meetings/${meeting}/company`)).body.data.id).toBe(company);
  expect((await api.fetch('segments', segment)).member_count).toBe(1);
});

test('members of a segment are left out where the read scope of their type is missing', async () => {
  const [people, firms] = [
    await idOf('segments'),
    await idOf('segments', { name: 'F', record_type: 'company' }),
  ];
  const [contact, company] = [await idOf('contacts'), await idOf('companies')];
  await link([
    { of: 'segments.members', parent_id: people, id: contact },
    { of: 'segments.members', parent_id: firms, id: company },
  ]);
  const seenWith = async (...scopes: string[]) => {
    const client = await api.withKey({ scopes: ['segments:read', ...scopes] });
    const query = `parent_id=${people}&parent_id=${firms}`;
    const some = await client.list(`/links?of=segments.members&${query}`);
    const all = await client.list('/links?of=segments.members&limit=200');
    expect(all.filter(({ parent_id }) => [people, firms].includes(parent_id))).toEqual(some);
    return some.map(({ id }) => id);
  };
  expect(await seenWith('contacts:read')).toEqual([contact]);
  expect(await seenWith('companies:read')).toEqual([company]);
  expect(await seenWith()).toEqual([]);
  expect(await seenWith('contacts:read', 'companies:read')).toEqual([company, contact]);
});

describe('an association of a meeting', () => {
  const listed = async (meeting: string) =>
    (await api.list(`/links?of=meetings.deal&parent_id=${meeting}`))[0];
  const item = (parent_id: string, id: string) => ({ of: 'meetings.deal', parent_id, id });

  test('is replaced by another, and its link is told by when it was set', async () => {
    const meeting = await insertReadOnly(harness, 'meetings');
    const [one, two] = [await idOf('deals'), await idOf('deals')];
    expect(outcomesOf(await link([item(meeting, one)]))).toEqual(['linked']);
    const first = await listed(meeting);
    expect(first).toEqual({ parent_id: meeting, id: one, linked_at: at() });
    harness.clock.now += 1_000;
    expect(outcomesOf(await link([item(meeting, one)]))).toEqual(['unchanged']);
    expect(await listed(meeting)).toEqual(first);
    expect((await api.fetch('meetings', meeting)).updated_at).toBe(first.linked_at);
    const data = await link([item(meeting, one), item(meeting, two), item(meeting, one), item(meeting, two)]);
    expect(outcomesOf(data)).toEqual(['unchanged', 'linked', 'linked', 'linked']);
    expect(await listed(meeting)).toEqual({ parent_id: meeting, id: two, linked_at: at() });
    expect(await api.fetch('meetings', meeting)).toMatchObject({ deal_id: two, updated_at: at() });
    expect(outcomesOf(await unlink([item(meeting, one), item(meeting, two)]))).toEqual([
      'RESOURCE_NOT_FOUND',
      'unlinked',
    ]);
    expect(await listed(meeting)).toBeUndefined();
    expect((await api.fetch('meetings', meeting)).deal_id).toBeNull();
  });

  test('set by itself is listed too, and keeps its time while the meeting changes', async () => {
    const meeting = await insertReadOnly(harness, 'meetings');
    const [deal, company] = [await idOf('deals'), await idOf('companies')];
    await api.put(`/meetings/${meeting}/deal`, { deal_id: deal });
    const linked_at = at();
    harness.clock.now += 1_000;
    await api.put(`/meetings/${meeting}/company`, { company_id: company });
    await api.put(`/meetings/${meeting}/deal`, { deal_id: deal });
    expect(await listed(meeting)).toEqual({ parent_id: meeting, id: deal, linked_at });
    expect((await api.fetch('meetings', meeting)).updated_at > linked_at).toBe(true);
    await api.del(`/meetings/${meeting}/deal`);
    expect(await listed(meeting)).toBeUndefined();
    expect(await api.list(`/links?of=meetings.company&parent_id=${meeting}`)).toHaveLength(1);
  });

  test('without a time, as an older crm sets it, has that of the last change', async () => {
    const meeting = await insertReadOnly(harness, 'meetings');
    const deal = await idOf('deals');
    await harness.store.write(harness.orgNumber, (trx) =>
      trx
        .updateTable(tableOf({ name: 'meetings' }))
        .set({ deal_id: deal })
        .where('id', '=', meeting)
        .execute(),
    );
    const { updated_at } = await api.fetch('meetings', meeting);
    expect(await listed(meeting)).toEqual({ parent_id: meeting, id: deal, linked_at: updated_at });
    const all = await api.list('/links?of=meetings.deal&limit=200');
    expect(all.map(({ parent_id }) => parent_id)).toContain(meeting);
  });
});

describe('repeated and dry', () => {
  test('a repeated batch is answered as the first, with another body it is refused', async () => {
    const item = { of: 'deals.contacts', parent_id: await idOf('deals'), id: await idOf('contacts') };
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const send = (path: string, body: Json) =>
      harness.send('POST', `/api/v2/links/${path}`, { body, headers });
    const first = await send('batch', [item]);
    expect(outcomesOf(first.body.data)).toEqual(['linked']);
    const again = await send('batch', [item]);
    expect([again.text, again.headers.get('Idempotent-Replayed')]).toEqual([first.text, 'true']);
    for (const [path, body] of [
      ['batch', [item, item]],
      ['batch/delete', [item]],
    ] as const)
      expectFault(await send(path, body), 'VALIDATION_FAILED', 'Idempotency-Key');
    expect(await api.list(`/deals/${item.parent_id}/contacts`)).toHaveLength(1);
  });

  test('a dry run tells what it would do, and does not', async () => {
    const item = { of: 'deals.contacts', parent_id: await idOf('deals'), id: await idOf('contacts') };
    const dry = async (path: string) => {
      const headers = { 'Dry-Run': 'true' };
      const reply = await harness.send('POST', `/api/v2/links/${path}`, { body: [item], headers });
      expect([reply.status, reply.headers.get('Dry-Run')]).toEqual([200, 'true']);
      return outcomesOf(reply.body.data);
    };
    const count = async () => (await api.list(`/deals/${item.parent_id}/contacts`)).length;
    expect([await dry('batch'), await count()]).toEqual([['linked'], 0]);
    expect(await dry('batch/delete')).toEqual(['RESOURCE_NOT_FOUND']);
    await link([item]);
    expect([await dry('batch/delete'), await count()]).toEqual([['unlinked'], 1]);
    expect(await dry('batch')).toEqual(['unchanged']);
  });

  test('linked and unlinked as often, nothing is left behind', async () => {
    const [deal, ids] = [await idOf('deals'), [] as string[]];
    for (let count = 0; count < 5; count++) ids.push(await idOf('contacts'));
    const items = ids.map((id) => ({ of: 'deals.contacts', parent_id: deal, id }));
    for (let round = 0; round < 3; round++) {
      expect(new Set(outcomesOf(await link(items)))).toEqual(new Set(['linked']));
      expect(new Set(outcomesOf(await unlink(items)))).toEqual(new Set(['unlinked']));
    }
    const rows = await harness.store.read
      .selectFrom(linkTable('deal_contacts'))
      .selectAll()
      .where('deal_id', '=', deal)
      .execute();
    expect(rows).toEqual([]);
  });
});
