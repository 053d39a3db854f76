// Pages of a search: in one order whatever is written meanwhile, for each key what it sees, and never much work at once.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { contacts } from '../../db/model/resources/contacts.ts';
import { V2_SCOPES } from '../../db/model/resources/registry.ts';
import { queryOf } from '../../db/model/search-query.ts';
import { accessOfKey } from '../../server/access.ts';
import { SEARCH_EXAMINED_MAX, SEARCH_RECORDS_MAX } from '../../server/search/request.ts';
import { searchRecords } from '../../server/search/search.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { indexAll } from '../support/index-all.ts';
import { type Client, clientOf } from '../support/v2.ts';

let harness: Harness;
let api: Client;
beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

const updateIndex = () => indexAll(harness);
const createAll = async (items: Json[]): Promise<string[]> => {
  const ids: string[] = [];
  for (let from = 0; from < items.length; from += 100) {
    const reply = await api.batch('/contacts/batch', items.slice(from, from + 100));
    ids.push(...reply.items.map((item: Json) => item.data.id));
  }
  return ids;
};
const newest = (ids: readonly string[]) => [...ids].sort().reverse();

test('pages repeat nothing and skip nothing while records are added, changed and deleted', async () => {
  const ids = await createAll(
    Array.from({ length: 250 }, (_, index) => ({
      first_name: index % 3 === 0 ? 'Berta' : 'Emil',
      remarks: index % 3 === 1 ? 'knows Berta' : null,
      title: `number ${index}`,
    })),
  );
  const named = newest(ids.filter((_, index) => index % 3 === 0));
  const told = newest(ids.filter((_, index) => index % 3 === 1));
  const seen: string[] = [];
  for (let cursor = ''; ; ) {
    const reply = await api.get(`/search?q=berta&limit=7${cursor}`);
    seen.push(...reply.body.data.map((item: Json) => item.record_id));
    const { has_next_page, end_cursor } = reply.body.page_info;
    if (!has_next_page) break;
    cursor = `&cursor=${encodeURIComponent(end_cursor)}`;
    await api.create('contacts', { first_name: 'Berta' });
    // What was there before the search, and was not shown yet.
    const title = `changed ${seen.length}`;
    await api.update('contacts', String(told.at(-1)), { title });
    if (seen.length % 2 === 0) await updateIndex();
  }
  expect(seen).toEqual([...named, ...told]);
});

test('a cursor belongs to its search', async () => {
  const { body } = await api.get('/search?q=berta&limit=1');
  const cursor = encodeURIComponent(body.page_info.end_cursor);
  expect((await api.get(`/search?q=+berta+&limit=5&cursor=${cursor}`)).status).toBe(200);
  for (const path of [`/search?q=emil&cursor=${cursor}`, `/search?q=berta&types=contacts&cursor=${cursor}`])
    expect((await api.get(path)).status).toBe(422);
  const { alice } = harness;
  const hers = await api.withKey({ access: 'user', userId: alice });
  expect((await hers.get(`/search?q=berta&cursor=${cursor}`)).status).toBe(422);
});

test('a user-bound key finds what its user owns, page after page', async () => {
  const { alice, bob } = harness;
  const ids = await createAll(
    Array.from({ length: 120 }, (_, index) => ({
      last_name: 'Krause',
      owner_id: index % 40 === 0 ? alice : bob,
      remarks: 'secretive',
    })),
  );
  await updateIndex();
  const hers = await api.withKey({ access: 'user', userId: alice });
  const expected = newest(ids.filter((_, index) => index % 40 === 0));
  for (const q of ['krause', 'krause secretive', 'secretive', 'kra']) {
    const items = await hers.list(`/search?q=${encodeURIComponent(q)}&limit=3`);
    expect(items.map((item) => item.record_id)).toEqual(expected);
  }
  const [first = ''] = expected;
  await api.update('contacts', first, { owner_id: bob });
  expect((await hers.list('/search?q=krause')).length).toBe(2);
  await updateIndex();
  expect((await hers.list('/search?q=krause')).length).toBe(2);
  const hidden = await hers.list(`/search?q=${first}`);
  expect(hidden).toEqual([]);
});

test('a request examines no more than it may, and the next one continues there', async () => {
  const { store } = harness;
  // Words that all have, and that never meet; and a beginning that very many words have.
  const ids = await createAll(
    Array.from({ length: 3_000 }, (_, index) => ({
      first_name: index % 2 === 0 ? 'Even' : 'Odd',
      remarks: `wide${index}x common`,
    })),
  );
  await updateIndex();
  const row = await store.read
    .selectFrom('api_keys')
    .selectAll()
    .where('api', '=', 'v2')
    .executeTakeFirstOrThrow();
  const access = { ...accessOfKey(row), scopes: new Set(V2_SCOPES) };
  const searcher = { db: store.read, access, updateIndex: async () => undefined };
  const all = async (q: string) => {
    const read = queryOf(q);
    if ('faults' in read) throw new Error(q);
    const found: string[] = [];
    const pages: number[] = [];
    for (let after = null as Awaited<ReturnType<typeof searchRecords>>['next']; ; ) {
      const page = await searchRecords(searcher, {
        query: read.query,
        resources: [contacts],
        after,
        limit: 100,
      });
      expect(page.examined.entries).toBeLessThanOrEqual(SEARCH_EXAMINED_MAX);
      expect(page.examined.records).toBeLessThanOrEqual(SEARCH_RECORDS_MAX + 100);
      expect(page.positions.length).toBe(page.items.length);
      found.push(...page.items.map(({ record_id }) => String(record_id)));
      pages.push(page.items.length);
      if (page.next === null) return { found, pages };
      after = page.next;
    }
  };
  const even = newest(ids.filter((_, index) => index % 2 === 0));
  expect((await all('even common')).found).toEqual(even);
  expect((await all('even odd')).found).toEqual([]);
  // Decided by the records, a thousand to a page.
  expect((await all('wide')).found).toEqual(newest(ids));
  const rare = await all('zzz wide');
  expect(rare).toEqual({ found: [], pages: [0] });
  expect((await all('wide17')).found).toEqual(
    newest(ids.filter((_, index) => String(index).startsWith('17'))),
  );
});
