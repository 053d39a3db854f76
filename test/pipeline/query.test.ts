// Query strings: each parameter known, given once, not empty, exactly of its type; and lists that keep to them.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { expectRefusal } from '../support/envelope.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';

let harness: Harness;
const ids: string[] = [];
let start = 0;

beforeAll(async () => {
  harness = await startHarness();
  start = harness.clock.now + 1_000;
  for (let index = 0; index < 7; index++) {
    // The request takes a millisecond.
    harness.clock.now = start + index * 1_000 - 1;
    const body = { first_name: `N${index}`, email: `n${index}@query.test` };
    ids.push((await harness.send('POST', '/api/v2/contacts', { body })).body.data.id);
  }
});
afterAll(() => harness.close());

const get = (path: string) => harness.send('GET', `/api/v2${path}`);
const FAILED = 'VALIDATION_FAILED';
const INVALID = 'VALIDATION_INVALID_FORMAT';
const RANGE = 'VALIDATION_OUT_OF_RANGE';

const REFUSED: [query: string, path: string, code: string][] = [
  ['limit=0', 'limit', RANGE],
  ['limit=201', 'limit', RANGE],
  ['limit=-1', 'limit', RANGE],
  ['limit=9007199254740993', 'limit', RANGE],
  ['limit=0x5', 'limit', FAILED],
  ['limit=1e1', 'limit', FAILED],
  ['limit=%205', 'limit', FAILED],
  ['limit=5%20', 'limit', FAILED],
  ['limit=+5', 'limit', FAILED],
  ['limit=05', 'limit', FAILED],
  ['limit=5.0', 'limit', FAILED],
  ['limit=5,0', 'limit', FAILED],
  ['limit=%D9%A5', 'limit', FAILED],
  ['limit=99999999999999999999', 'limit', RANGE],
  ['limit=five', 'limit', FAILED],
  ['limit=null', 'limit', FAILED],
  ['limit=', 'limit', FAILED],
  ['limit', 'limit', FAILED],
  ['limit=5&limit=5', 'limit', FAILED],
  ['limit=5&%6cimit=6', 'limit', FAILED],
  ['limit[]=5', 'limit[]', FAILED],
  ['Limit=5', 'Limit', FAILED],
  ['limit%20=5', 'limit ', FAILED],
  ['limit=%zz', 'limit', INVALID],
  ['limit=%', 'limit', INVALID],
  ['email=%c3%28', 'email', INVALID],
  ['email=%ED%A0%80', 'email', INVALID],
  ['email=a%00b', 'email', FAILED],
  ['limit=%00', 'limit', FAILED],
  ['%zz=1', '%zz', FAILED],
  ['=1', '', FAILED],
  ['nope=1', 'nope', FAILED],
  ['nope', 'nope', FAILED],
  ['constructor=1', 'constructor', FAILED],
  ['toString=1', 'toString', FAILED],
  ['__proto__=1', '__proto__', FAILED],
  ['__proto__[limit]=1', '__proto__[limit]', FAILED],
  ['hasOwnProperty', 'hasOwnProperty', FAILED],
  ['offset=10', 'offset', FAILED],
  ['sort_by=name', 'sort_by', FAILED],
  ['sort_by=CREATED_AT', 'sort_by', FAILED],
  ['sort_by=', 'sort_by', FAILED],
  ['sort_direction=descending', 'sort_direction', FAILED],
  ['email=', 'email', FAILED],
  ['cursor=', 'cursor', FAILED],
  ['cursor=x', 'cursor', INVALID],
  ['cursor=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', 'cursor', INVALID],
  ['created_since=yesterday', 'created_since', INVALID],
  ['created_since=2026-01-01', 'created_since', INVALID],
  ['created_since=2026-02-30T00:00:00Z', 'created_since', INVALID],
  ['created_since=2026-01-01T00:00:00', 'created_since', INVALID],
  ['created_since=2026-01-01T24:00:00Z', 'created_since', INVALID],
  ['created_since=2026-01-01T24:00:01Z', 'created_since', INVALID],
  ['created_since=2026-01-01T00:00:60Z', 'created_since', INVALID],
  ['created_since=2026-01-01T00:00:00%2B24:00', 'created_since', INVALID],
  ['created_since=2026-13-01T00:00:00Z', 'created_since', INVALID],
  ['created_since=1.5', 'created_since', INVALID],
  ['created_since=1e3', 'created_since', INVALID],
  ['created_since=99999999999999999999', 'created_since', INVALID],
  ['updated_since=%20', 'updated_since', INVALID],
];

describe('refused on a list', () => {
  for (const [query, path, code] of REFUSED) {
    test(`?${query}`, async () => {
      expectRefusal(await get(`/contacts?${query}`), 422, code, [[path, code]]);
    });
  }

  test('all faults are reported at once', async () => {
    const reply = await get('/contacts?limit=0&nope=1&cursor=&sort_by=x&email=%zz');
    expectRefusal(reply, 422, FAILED, [
      ['limit', RANGE],
      ['nope', FAILED],
      ['cursor', FAILED],
      ['sort_by', FAILED],
      ['email', INVALID],
    ]);
  });

  test('a message says what is allowed', async () => {
    const messageOf = async (query: string) =>
      (await get(`/contacts?${query}`)).body.error.details[0].message;
    expect(await messageOf('limit=0')).toContain('1 to 200');
    expect(await messageOf('sort_by=x')).toContain('created_at, updated_at');
    expect(await messageOf('nope=1')).toContain('email');
  });
});

describe('refused anywhere but on a list', () => {
  const rows: [method: string, path: string, body?: Json][] = [
    ['GET', '/contacts/absent'],
    ['DELETE', '/contacts/absent'],
    ['POST', '/contacts', { first_name: 'A' }],
    ['POST', '/contacts/batch', []],
    ['PATCH', '/contacts/absent', {}],
    ['GET', '/meetings/absent/deal'],
    ['DELETE', '/deals/absent/contacts/absent'],
  ];
  for (const [method, path, body] of rows) {
    for (const query of ['limit=5', 'constructor=1', 'x', 'x=']) {
      test(`${method} ${path}?${query}`, async () => {
        const reply = await harness.send(method, `/api/v2${path}?${query}`, { body });
        expectRefusal(reply, 422, FAILED, [[query.split('=')[0] ?? '', FAILED]]);
      });
    }
  }

  test('in v1 too, where a list is asked for in the body', async () => {
    for (const [method, path] of [
      ['GET', '/authenticate'],
      ['GET', '/people/absent'],
      ['POST', '/people/query'],
    ]) {
      const input = method === 'POST' ? { body: {} } : {};
      const reply = await harness.send(method ?? '', `/api/v1${path}?limit=5`, input);
      expectRefusal(reply, 422, FAILED, [['limit', FAILED]], '1');
    }
  });
});

describe('read', () => {
  const rows: [query: string, names: string][] = [
    ['', 'N6 N5 N4 N3 N2 N1 N0'],
    ['limit=200', 'N6 N5 N4 N3 N2 N1 N0'],
    ['limit=1', 'N6'],
    ['&&limit=2&', 'N6 N5'],
    ['%6cimit=2', 'N6 N5'],
    ['sort_direction=asc&limit=2', 'N0 N1'],
    ['sort_by=updated_at&sort_direction=asc&limit=1', 'N0'],
    ['email=N3%40QUERY.test', 'N3'],
    ['email=absent', ''],
    ['email=%E2%98%83', ''],
    ['email=%27%20OR%201%3D1', ''],
    ['company_id=absent', ''],
    ['phone=%2B49', ''],
  ];
  for (const [query, names] of rows) {
    test(`?${query}`, async () => {
      const reply = await get(`/contacts?${query}`);
      expect([reply.status, reply.body.data.map((one: Json) => one.first_name).join(' ')]).toEqual([
        200,
        names,
      ]);
    });
  }

  test('instants in every spelling, inclusive', async () => {
    const at = start + 5_000;
    const iso = new Date(at).toISOString();
    const summer = `${new Date(at + 7_200_000).toISOString().slice(0, -1)}+02:00`;
    for (const text of [String(at), iso, iso.toLowerCase(), summer, iso.replace('Z', '-00:00')]) {
      const reply = await get(`/contacts?created_since=${encodeURIComponent(text)}`);
      expect(reply.body.data.map((one: Json) => one.first_name)).toEqual(['N6', 'N5']);
    }
    expect((await get(`/contacts?created_since=${at + 1}`)).body.data).toHaveLength(1);
    expect((await get('/contacts?created_since=-1')).body.data).toHaveLength(7);
    expect((await get('/contacts?created_since=2024-02-29T23:59:59.999999Z')).body.data).toHaveLength(7);
  });
});

describe('cursors', () => {
  const pageOf = async (query: string) => {
    const { data, page_info } = (await get(`/contacts?${query}`)).body;
    return { names: data.map((one: Json) => one.first_name).join(' '), ...page_info };
  };

  test('lead through all pages, whatever the limit of each', async () => {
    const first = await pageOf('limit=3');
    expect(first).toMatchObject({ names: 'N6 N5 N4', has_next_page: true });
    const second = await pageOf(`limit=2&cursor=${first.end_cursor}`);
    expect(second).toMatchObject({ names: 'N3 N2', has_next_page: true });
    const last = await pageOf(`cursor=${second.end_cursor}`);
    expect(last).toMatchObject({ names: 'N1 N0', has_next_page: false });
    expect(await pageOf('limit=7')).toMatchObject({ has_next_page: false });
    expect(await pageOf('email=absent')).toEqual({ names: '', has_next_page: false, end_cursor: null });
  });

  test('hold their place while rows come and go', async () => {
    const first = await pageOf('limit=2');
    harness.clock.now = start + 10_000;
    const added = await harness.send('POST', '/api/v2/contacts', { body: { first_name: 'New' } });
    const anchor = ids[5];
    await harness.send('DELETE', `/api/v2/contacts/${anchor}`);
    expect((await pageOf(`limit=2&cursor=${first.end_cursor}`)).names).toBe('N4 N3');
    await harness.send('DELETE', `/api/v2/contacts/${added.body.data.id}`);
  });

  test('are refused by every other list, and when altered', async () => {
    const { end_cursor: cursor } = await pageOf('limit=2');
    const flipped = cursor.slice(0, -2) + (cursor.at(-2) === 'A' ? 'B' : 'A') + cursor.at(-1);
    const foreign = await harness.issue({ orgNumber: harness.otherOrgNumber });
    const rows: [path: string, key?: string][] = [
      [`/contacts?sort_direction=asc&cursor=${cursor}`],
      [`/contacts?sort_by=updated_at&cursor=${cursor}`],
      [`/contacts?email=n1@query.test&cursor=${cursor}`],
      [`/contacts?created_since=0&cursor=${cursor}`],
      [`/companies?cursor=${cursor}`],
      [`/contacts?cursor=${flipped}`],
      [`/contacts?cursor=A${cursor}`],
      [`/contacts?cursor=${cursor}A`],
      [`/contacts?cursor=${cursor}%3D`],
      [`/contacts?cursor=${cursor.slice(0, 20)}`],
      [`/contacts?cursor=${Buffer.from('[1,"a"]').toString('base64url')}`],
      [`/contacts?cursor=${cursor}`, foreign.key],
    ];
    for (const [path, key] of rows) {
      const reply = await harness.send('GET', `/api/v2${path}`, { key });
      expectRefusal(reply, 422, INVALID, [['cursor', INVALID]]);
    }
    const spelledOut = `/contacts?limit=2&sort_by=created_at&sort_direction=desc&cursor=${cursor}`;
    expect((await get(spelledOut)).status).toBe(200);
  });

  test('break ties by id, in the same direction', async () => {
    harness.clock.now = start + 20_000;
    const names = ['T0', 'T1', 'T2', 'T3'];
    const body = names.map((name) => ({ first_name: name, phone: 'ties' }));
    await harness.send('POST', '/api/v2/contacts/batch', { body });
    for (const [direction, expected] of [
      ['asc', names],
      ['desc', names.toReversed()],
    ] as const) {
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const query: string = cursor === null ? '' : `&cursor=${cursor}`;
        const page = await pageOf(`phone=ties&limit=1&sort_direction=${direction}${query}`);
        seen.push(page.names);
        cursor = page.has_next_page ? page.end_cursor : null;
      } while (cursor !== null);
      expect(seen).toEqual([...expected]);
    }
  });
});
