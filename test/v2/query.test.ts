// Queries: what bodies they take, what cursors hold, and how much a request examines.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { sql } from 'kysely';
import type { Data } from '../../db/model/json.ts';
import { readFilter } from '../../db/model/query/filter.ts';
import { getQuerySort } from '../../db/model/query/sorts.ts';
import { getResource } from '../../db/model/resources/registry.ts';
import {
  COUNT_EXAMINED_MAX,
  countRecords,
  findQueryPage,
  PAGE_EXAMINED_MAX,
} from '../../db/queries/run-query.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { FILTERED_FIELDS } from '../support/query-contract.ts';
import { mistakes, spoiled } from '../support/query-faults.ts';
import { validFilter } from '../support/query-filters.ts';
import { ABSENT, type Client, clientOf, expectFault } from '../support/v2.ts';

let harness: Harness;
let api: Client;
beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

const ids = (reply: Json): string[] => reply.body.data.map(({ id }: Json) => id);

describe('what is wrong is told with its path', () => {
  const deep = { and: [{ or: [{ not: { and: [{ or: [{ id: 'x' }] }] } }] }] };
  const REFUSED: [string, Json, path: string, code: string][] = [
    ['deals', { filtr: {} }, 'filtr', 'VALIDATION_FAILED'],
    ['deals', { filter: [] }, 'filter', 'VALIDATION_FAILED'],
    ['deals', { filter: null }, 'filter', 'VALIDATION_FAILED'],
    ['deals', { sort_by: 'name' }, 'sort_by', 'VALIDATION_FAILED'],
    ['deals', { sort_direction: 'up' }, 'sort_direction', 'VALIDATION_FAILED'],
    ['deals', { limit: 0 }, 'limit', 'VALIDATION_OUT_OF_RANGE'],
    ['deals', { limit: 201 }, 'limit', 'VALIDATION_OUT_OF_RANGE'],
    ['deals', { limit: '20' }, 'limit', 'VALIDATION_FAILED'],
    ['deals', { cursor: 'x' }, 'cursor', 'VALIDATION_INVALID_FORMAT'],
    ['deals', { fields: ['nope'] }, 'fields.0', 'VALIDATION_FAILED'],
    ['deals', { include: ['nope'] }, 'include.0', 'VALIDATION_FAILED'],
    ['deals', { filter: { close: 'x' } }, 'filter.close', 'VALIDATION_FAILED'],
    [
      'deals',
      { filter: { and: [{ estimated_close_date: { gte: 'x' } }] } },
      'filter.and.0.estimated_close_date.gte',
      'VALIDATION_INVALID_FORMAT',
    ],
    [
      'deals',
      { filter: { and: [{ estimated_close_date: { gte: '2026-02-30' } }] } },
      'filter.and.0.estimated_close_date.gte',
      'VALIDATION_INVALID_FORMAT',
    ],
    ['deals', { filter: { name: { lt: 'x' } } }, 'filter.name.lt', 'VALIDATION_FAILED'],
    ['deals', { filter: { status: 'opened' } }, 'filter.status', 'VALIDATION_FAILED'],
    ['deals', { filter: { status: { in: ['open', 'Won'] } } }, 'filter.status.in.1', 'VALIDATION_FAILED'],
    ['deals', { filter: { estimated_value: '5' } }, 'filter.estimated_value', 'VALIDATION_FAILED'],
    [
      'deals',
      { filter: { estimated_value: { between: [1] } } },
      'filter.estimated_value.between',
      'VALIDATION_OUT_OF_RANGE',
    ],
    [
      'deals',
      { filter: { estimated_value: { eq: null } } },
      'filter.estimated_value.eq',
      'VALIDATION_FAILED',
    ],
    ['deals', { filter: { estimated_value: null } }, 'filter.estimated_value', 'VALIDATION_FAILED'],
    ['deals', { filter: { contacts: ABSENT } }, 'filter.contacts', 'VALIDATION_FAILED'],
    ['deals', { filter: { contacts: { eq: ABSENT } } }, 'filter.contacts.eq', 'VALIDATION_FAILED'],
    ['deals', { filter: { contacts: { has: 5 } } }, 'filter.contacts.has', 'VALIDATION_FAILED'],
    ['deals', { filter: { custom: { a: 1 } } }, 'filter.custom', 'VALIDATION_FAILED'],
    ['deals', { filter: { 'custom.a': { contains: 1 } } }, 'filter.custom.a.contains', 'VALIDATION_FAILED'],
    ['deals', { filter: { created_at: 1.5 } }, 'filter.created_at', 'VALIDATION_FAILED'],
    ['deals', { filter: { created_at: '2026-01-01' } }, 'filter.created_at', 'VALIDATION_INVALID_FORMAT'],
    ['deals', { filter: { created_at: '1767225600000' } }, 'filter.created_at', 'VALIDATION_INVALID_FORMAT'],
    [
      'deals',
      { filter: { created_at: { gte: { ago: '0d' } } } },
      'filter.created_at.gte.ago',
      'VALIDATION_INVALID_FORMAT',
    ],
    [
      'deals',
      { filter: { created_at: { gte: { ago: '999999999w' } } } },
      'filter.created_at.gte.ago',
      'VALIDATION_OUT_OF_RANGE',
    ],
    [
      'deals',
      { filter: { name: { in: Array(101).fill('x') } } },
      'filter.name.in',
      'VALIDATION_OUT_OF_RANGE',
    ],
    ['deals', { filter: { or: Array(26).fill({ name: 'x' }) } }, 'filter', 'VALIDATION_OUT_OF_RANGE'],
    ['deals', { filter: deep }, 'filter.and.0.or.0.not.and.0.or', 'VALIDATION_OUT_OF_RANGE'],
    ['tasks', { filter: { 'custom.a': 1 } }, 'filter.custom.a', 'VALIDATION_FAILED'],
    ['bookings', { filter: { attendee_email: 'x' } }, 'filter.attendee_email', 'VALIDATION_FAILED'],
    [
      'interactions',
      { filter: { main_contact_email: 'x' } },
      'filter.main_contact_email',
      'VALIDATION_FAILED',
    ],
  ];
  for (const [resource, body, path, code] of REFUSED) {
    test(`${resource} ${JSON.stringify(body).slice(0, 80)}`, async () => {
      expectFault(await api.post(`/${resource}/query`, body), code, path);
      const isCount = Object.keys(body).every((name) => name === 'filter');
      if (isCount) expectFault(await api.post(`/${resource}/count`, body), code, path);
    });
  }

  test('with what is allowed, and what was probably meant', async () => {
    const messageOf = async (filter: Json) =>
      (await api.post('/deals/query', { filter })).body.error.details[0].message;
    expect(await messageOf({ estimated_closing_date: 'x' })).toMatch(
      /did you mean estimated_close_date\? allowed: id, name, .*custom\.NAME$/,
    );
    expect(await messageOf({ status: { is: 'open' } })).toContain('allowed: eq, ne, in, not_in, is_null');
    expect(await messageOf({ status: 'opened' })).toBe('must be one of: open, won, lost');
    expect(await messageOf({ name: null })).toContain('{"is_null": true}');
  });

  test('every filter with a mistake', async () => {
    const world = { instants: [0], ids: {}, users: [harness.alice], stages: ['x'] };
    const seen = { records: {}, ends: {} };
    const wrong = fc
      .constantFrom(...Object.keys(FILTERED_FIELDS))
      .chain((resource) =>
        fc.tuple(
          fc.constant(resource),
          validFilter({ ...world, ids: { contacts: ['a'], companies: ['b'] } }, seen, resource),
          mistakes,
        ),
      );
    await fc.assert(
      fc.asyncProperty(wrong, async ([resource, filter, choices]) => {
        const path = `/${resource}/${choices[0] === 0 ? 'count' : 'query'}`;
        const reply = await api.post(path, { filter: spoiled(filter, choices) });
        expect(reply.status).toBe(422);
        for (const { path } of reply.body.error.details) expect(path).toMatch(/^(?:filter(?:\.|$)|$)/);
      }),
      { seed: 1, numRuns: Number(process.env.QUERY_FILTERS ?? 500) },
    );
  });

  test('a key with a meaning of its own in JavaScript', async () => {
    const reply = await harness.send('POST', '/api/v2/deals/query', {
      raw: '{"filter":{"__proto__":{"name":"x"}}}',
    });
    expect(reply.status).toBe(422);
  });
});

describe('a cursor', () => {
  const made: string[] = [];
  beforeAll(async () => {
    for (const first_name of ['Grace', 'Ada', 'Mary'])
      made.push((await api.create('contacts', { first_name })).id);
  });
  const page = (body: Json) => api.post('/contacts/query', { limit: 1, sort_direction: 'asc', ...body });

  test('belongs to its filter and order, and to nothing else', async () => {
    const filter = { first_name: { in: ['ada', 'grace', 'mary'] } };
    const { end_cursor: cursor } = (await page({ filter })).body.page_info;
    const next = await page({ filter, cursor, limit: 2, fields: ['first_name'], include: ['owner'] });
    expect(ids(next)).toEqual(made.slice(1));
    expect(Object.keys(next.body.data[0]).sort()).toEqual(['first_name', 'id', 'included_ids']);
    for (const other of [
      {},
      { filter: { first_name: 'ada' } },
      { filter, sort_by: 'updated_at' },
      { filter, sort_direction: 'desc' },
    ]) {
      expectFault(await page({ ...other, cursor }), 'VALIDATION_INVALID_FORMAT', 'cursor');
    }
    expectFault(
      await api.post('/companies/query', { cursor, filter: {} }),
      'VALIDATION_INVALID_FORMAT',
      'cursor',
    );
  });

  test('does not depend on the order in which names of its filter are written', async () => {
    const filter = { first_name: { in: ['ada', 'grace', 'mary'], ne: 'eve' }, title: { is_null: true } };
    const { end_cursor: cursor } = (await page({ filter })).body.page_info;
    const written = { title: { is_null: true }, first_name: { ne: 'eve', in: ['ada', 'grace', 'mary'] } };
    expect(ids(await page({ filter: written, cursor, limit: 2 }))).toEqual(made.slice(1));
    const other = { ...written, title: { is_null: false } };
    expectFault(await page({ filter: other, cursor }), 'VALIDATION_INVALID_FORMAT', 'cursor');
  });

  test('keeps relative times as they were on the first page', async () => {
    const filter = { id: { in: made }, created_at: { gte: { ago: '1h' } } };
    const first = await page({ filter });
    harness.clock.now += 2 * 3_600_000;
    expect((await page({ filter })).body.data).toEqual([]);
    const rest = await page({ filter, limit: 200, cursor: first.body.page_info.end_cursor });
    expect([...ids(first), ...ids(rest)]).toEqual(made);
  });
});

test('text is found by its parts without regard to case, also where a capital has two small letters', async () => {
  const { id } = await api.create('companies', { name: 'ΜΟΥΣΕΙΟ ΚΩΣ' });
  const { id: other } = await api.create('companies', { name: 'ΜΟΥΣ' });
  const named = async (condition: Json, sort_by = 'name') => {
    const body = { filter: { name: condition }, sort_by, sort_direction: 'asc' };
    return ids(await api.post('/companies/query', body));
  };
  for (const sort of ['name', 'created_at'])
    for (const part of ['ΜΟΥΣ', 'μους', 'μουσ'])
      expect(new Set(await named({ starts_with: part }, sort))).toEqual(new Set([id, other]));
  expect(await named({ contains: 'κωΣ' })).toEqual([id]);
  expect(await named({ contains: 'ΕΙΟ κωσ' })).toEqual([id]);
  expect(await named({ starts_with: 'κως' })).toEqual([]);
});

test('the answer to a query with an idempotency key is kept', async () => {
  const body = { filter: { name: 'Kept' } };
  const headers = { 'Idempotency-Key': 'a-query' };
  const first = await harness.send('POST', '/api/v2/companies/query', { body, headers });
  await api.create('companies', { name: 'Kept' });
  const again = await harness.send('POST', '/api/v2/companies/query', { body, headers });
  expect([again.text, again.headers.get('Idempotent-Replayed')]).toEqual([first.text, 'true']);
  expect((await api.post('/companies/query', body)).body.data).toHaveLength(1);
});

describe('a record with many links', () => {
  const ends = async (name: string, filter: Json, key?: string) =>
    ids(await clientOf(harness, key ?? harness.v2).post(`/${name}/query`, { filter }));

  test('has a link of a kind, however many of others it has', async () => {
    const { id: note } = await api.create('notes', { title: 'Many' });
    const tie = (record_type: string, record_id: string) =>
      api.post(`/notes/${note}/records`, { record_type, record_id });
    for (let count = 0; count < 30; count++) await tie('contact', (await api.create('contacts')).id);
    const isLinked = { id: note, companies: { is_null: false } };
    expect(await ends('notes', isLinked)).toEqual([]);
    expect(await ends('notes', { id: note, companies: { is_null: true } })).toEqual([note]);
    await tie('company', (await api.create('companies')).id);
    expect(await ends('notes', isLinked)).toEqual([note]);
    expect(await ends('notes', { id: note, deals: { is_null: true } })).toEqual([note]);
  });

  test('has none for a key that sees none of their other ends', async () => {
    const { alice, bob } = harness;
    const { key } = await harness.issue({ userId: alice });
    const { id: company_id } = await api.create('companies', { name: 'Many', owner_id: alice });
    const items = Array.from({ length: 30 }, () => ({ first_name: 'A', company_id, owner_id: bob }));
    await api.batch('/contacts/batch', items);
    const isLinked = { id: company_id, contacts: { is_null: false } };
    expect(await ends('companies', isLinked)).toEqual([company_id]);
    expect(await ends('companies', isLinked, key)).toEqual([]);
    expect(await ends('companies', { not: isLinked, id: company_id }, key)).toEqual([company_id]);
    await api.create('contacts', { first_name: 'B', company_id, owner_id: alice });
    expect(await ends('companies', isLinked, key)).toEqual([company_id]);
  });
});

test('a page of large records ends early, unless their texts are left out, and none is missed', async () => {
  const made: string[] = [];
  const content = '\u{1F600}'.repeat(50_000);
  for (let count = 0; count < 30; count++)
    made.push((await api.create('notes', { title: `Large ${count}`, content })).id);
  const found: string[] = [];
  let pages = 0;
  for (let cursor: Json = {}; ; ) {
    const reply = await api.post('/notes/query', {
      filter: { title: { starts_with: 'large' } },
      sort_direction: 'asc',
      limit: 200,
      ...cursor,
    });
    found.push(...ids(reply));
    pages += 1;
    expect(reply.text.length).toBeLessThan(6 * 1024 * 1024);
    if (!reply.body.page_info.has_next_page) break;
    cursor = { cursor: reply.body.page_info.end_cursor };
  }
  expect(found).toEqual(made);
  expect(pages).toBeGreaterThan(1);
  // Whose long texts nobody wants fit on one.
  const filter = { title: { starts_with: 'large' } };
  const short = await api.post('/notes/query', {
    filter,
    sort_direction: 'asc',
    fields: ['title'],
    limit: 200,
  });
  expect(ids(short)).toEqual(made);
  expect(short.body.page_info.has_next_page).toBe(false);
});

describe('in a large organization', () => {
  const MANY = COUNT_EXAMINED_MAX + 1_000;
  const AT_ONCE = 2_000;
  const segments = getResource('segments');
  const ID = sql`'019b76da-a800-7000-8000-' || substr(cast(1000000000000 + i as text), 2)`;

  beforeAll(async () => {
    const { store, orgNumber, alice, bob } = harness;
    const insert = (first: number, last: number) => sql`
      insert into segments (org_id, id, name, record_type, created_by, created_at, updated_at)
      with recursive numbers (i) as
        (select ${sql.lit(first)} union all select i + 1 from numbers where i < ${sql.lit(last)})
      select ${orgNumber}, ${ID}, case when i % 9000 = 0 then 'Rare' else 'Common' end,
        case when i % 3 = 0 then 'company' else 'contact' end, case when i % 2 = 0 then ${alice} else ${bob} end,
        1767225600000, 1767225600000 + i / 10 from numbers`;
    // PostgreSQL gives a statement seven seconds, in which a busy machine does not insert all of them.
    for (let first = 1; first <= MANY; first += AT_ONCE)
      await store.write(orgNumber, async (trx) => {
        await insert(first, Math.min(first + AT_ONCE - 1, MANY)).execute(trx);
      });
  }, 300_000);

  const pageOf = (filter: Data, more: Json = {}) =>
    findQueryPage(harness.store.read, {
      ...{
        orgNumber: harness.orgNumber,
        userId: null,
        resource: segments,
        direction: 'asc',
        after: null,
        limit: 20,
      },
      ...{ filter: readFilter(segments, filter, 0).filter, sort: getQuerySort(segments, 'created_at') },
      ...more,
    });

  // All that are rare are companies, and belong to alice.
  const RARE = Math.floor(MANY / 9_000);
  const FILTERS: [title: string, filter: Data, expected: number, userId: boolean][] = [
    ['nothing', {}, 100, false],
    ['what is rare', { name: 'rare' }, RARE, false],
    ['what is rare, of a user', { name: 'rare' }, RARE, true],
    ['what is rare among what has an index', { record_type: 'company', name: 'rare' }, RARE, false],
    ['what is rare elsewhere', { record_type: 'contact', name: 'rare' }, 0, false],
    ['what is nowhere', { or: [{ name: 'none' }, { description: { contains: 'x' } }] }, 0, false],
    ['the first ones', { created_at: { lt: '2026-01-01T00:00:00.001Z' }, name: 'rare' }, RARE, false],
  ];
  for (const [title, filter, expected, isOwn] of FILTERS) {
    for (const by of ['created_at', 'updated_at']) {
      for (const direction of ['asc', 'desc'] as const) {
        test(`${title}, by ${by} ${direction}`, async () => {
          const { alice } = harness;
          const more = { sort: getQuerySort(segments, by), direction, userId: isOwn ? alice : null };
          let found = 0;
          let pages = 0;
          for (let after: Json = null; ; ) {
            const page = await pageOf(filter, { ...more, after });
            expect(page.examined).toBeLessThanOrEqual(PAGE_EXAMINED_MAX);
            found += page.places.length;
            pages += 1;
            if (page.next === null || found >= 100) break;
            after = page.next;
          }
          expect(found).toBe(expected);
          expect(pages).toBeLessThanOrEqual(Math.ceil(MANY / (PAGE_EXAMINED_MAX - 5_000)) + 1);
        });
      }
    }
  }

  test('a count is exact as long as it can be', async () => {
    const count = async (filter: Data, userId: string | null = null) => {
      const read = readFilter(segments, filter, 0).filter;
      const { orgNumber, store } = harness;
      const counted = await countRecords(store.read, { orgNumber, userId, resource: segments, filter: read });
      expect(counted.examined).toBeLessThanOrEqual(COUNT_EXAMINED_MAX);
      return [counted.count, counted.isExact];
    };
    expect(await count({})).toEqual([COUNT_EXAMINED_MAX, false]);
    expect(await count({ record_type: 'company' })).toEqual([Math.floor(MANY / 3), true]);
    const [some, isExact] = await count({ name: 'common' });
    expect(isExact).toBe(false);
    expect(Number(some)).toBeGreaterThan(99_000);
    const answer = await api.post('/segments/count', {
      filter: { record_type: { in: ['company', 'contact'] } },
    });
    expect(answer.body.data.is_exact).toBe(false);
    expect(answer.body.data.count).toBeGreaterThan(95_000);
  });
});
