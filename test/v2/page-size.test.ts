// Pages of large records: they end early, with the item that passes 4 MiB, and the next one goes on exactly there.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { contacts } from '../../db/model/resources/contacts.ts';
import { listRecords } from '../../db/records/query.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { longText } from '../support/long-texts.ts';
import { type Client, clientOf } from '../support/v2.ts';

const PAGE_BYTES_MAX = 4 * 1024 * 1024;
const LARGE = 24;
const PHONE = '+43 1 234567';

let harness: Harness;
let api: Client;
let deal: string;
let segment: string;
let note: string;
const ids: string[] = [];

// 300,000 bytes of custom, in 100,000 code points.
const large = (index: number): Json => ({
  first_name: `Large ${index}`,
  ...(index % 2 === 0 ? { phone: PHONE } : { personal_phone: PHONE }),
  custom: Object.fromEntries(Array.from({ length: 100 }, (_, key) => [`key ${key}`, longText('CJK')])),
});

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
  deal = (await api.create('deals', { name: 'Deal' })).id;
  segment = (await api.create('segments', { name: 'Segment' })).id;
  note = (await api.create('notes', { title: 'Note' })).id;
  const bodies = Array.from({ length: LARGE }, (_, index) => large(index));
  for (const some of [bodies.slice(0, LARGE / 2), bodies.slice(LARGE / 2)]) {
    const { items } = (await api.post('/contacts/batch', some)).body.data;
    ids.push(...items.map((item: Json) => item.data.id));
  }
  for (const id of ids) {
    await api.post(`/deals/${deal}/contacts`, { contact_id: id });
    await api.post(`/segments/${segment}/members`, { record_id: id });
    await api.post(`/notes/${note}/records`, { record_type: 'contact', record_id: id });
  }
}, 300_000);
afterAll(() => harness.close());

const bytesOf = (items: Json[]) =>
  items.reduce((sum, item) => sum + Buffer.byteLength(JSON.stringify(item)), 0);

/** Checks where a page ends, and gives what it has. */
function expectPage({ data, page_info }: Json): Json[] {
  if (page_info.has_next_page) expect(bytesOf(data)).toBeGreaterThan(PAGE_BYTES_MAX);
  expect(bytesOf(data.slice(0, -1))).toBeLessThanOrEqual(PAGE_BYTES_MAX);
  return data;
}

async function walk(path: string): Promise<{ pages: number; ids: string[] }> {
  const found: string[] = [];
  for (let pages = 1, cursor = ''; ; pages++) {
    const { status, body } = await api.get(`${path}limit=200${cursor}`);
    expect(status).toBe(200);
    found.push(...expectPage(body).map((item) => item.id));
    if (!body.page_info.has_next_page) return { pages, ids: found };
    cursor = `&cursor=${body.page_info.end_cursor}`;
  }
}

describe('a page of records that pass 4 MiB ends with the one that does, and the next goes on there', () => {
  const rows: [name: string, path: () => string, order: 'asc' | 'desc'][] = [
    ['by created_at', () => '/contacts?', 'desc'],
    ['oldest first', () => '/contacts?sort_direction=asc&', 'asc'],
    ['by updated_at', () => '/contacts?sort_by=updated_at&', 'desc'],
    ['by a filter that matches in two ways', () => `/contacts?phone=${encodeURIComponent(PHONE)}&`, 'desc'],
    ['by a filter that follows links', () => `/contacts?segment_id=${segment}&sort_direction=asc&`, 'asc'],
    ['linked to a deal', () => `/deals/${deal}/contacts?`, 'desc'],
    ['members of a segment', () => `/segments/${segment}/members?`, 'desc'],
  ];
  for (const [name, path, order] of rows) {
    test(name, async () => {
      const walked = await walk(path());
      expect(walked.ids).toEqual(order === 'asc' ? ids : ids.toReversed());
      expect(walked.pages).toBe(2);
    });
  }
});

test('a page of as few as are asked for, or of what shows nothing large, is whole', async () => {
  expect((await api.get('/contacts?limit=10')).body.data).toHaveLength(10);
  const linked = await api.get(`/notes/${note}/records?limit=200`);
  expect(linked.body.data).toHaveLength(LARGE);
  expect(linked.body.page_info.has_next_page).toBe(false);
});

test('version 1 shows nothing that large of people, and gives all; its interactions end early too', async () => {
  const query = (path: string, body: Json) => harness.send('POST', path, { key: harness.v1, body });
  const people = await query('/api/v1/people/query', { limit: 100 });
  expect(people.body.data.map((one: Json) => one.id)).toEqual(ids.toReversed());
  expect(people.body.page_info.has_next_page).toBe(false);
  // 60,000 bytes each, as JSON has them; 21 of them are the most that a page may have, and too few.
  const summary = '\u0001'.repeat(10_000);
  for (let count = 0; count < 3; count++) {
    const interaction = { type: 'EMAIL', direction: 'INBOUND', title: `No. ${count}`, summary };
    await query('/api/v1/interactions', { ...interaction, mainContact: ids[0] });
  }
  const interactions = await query('/api/v1/interactions/query', { limit: 21 });
  expect(interactions.body.data).toHaveLength(3);
});

describe('what a page includes counts', () => {
  const tasks: Json[] = [];
  beforeAll(async () => {
    for (const person_id of [...ids, ...ids]) tasks.push(await api.create('tasks', { name: 'T', person_id }));
  });

  test('a page ends with the record that passes 4 MiB with what it adds, and the next goes on there', async () => {
    const found: Json[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await api.get(`/tasks?limit=200&include=contacts&sort_direction=asc${cursor}`);
      expect(Object.keys(body.included.contacts).sort()).toEqual(
        [...new Set<string>(body.data.map(({ person_id }: Json) => person_id))].sort(),
      );
      // The last one adds its contact, which no record before it has.
      const { [body.data.at(-1).person_id]: last, ...others } = body.included.contacts;
      const size = (records: Json) => bytesOf(Object.values(records));
      if (body.page_info.has_next_page)
        expect(bytesOf(body.data) + size(body.included.contacts)).toBeGreaterThan(PAGE_BYTES_MAX);
      expect(bytesOf(body.data.slice(0, -1)) + size(others)).toBeLessThanOrEqual(PAGE_BYTES_MAX);
      found.push(...body.data);
      if (!body.page_info.has_next_page) break;
      cursor = `&cursor=${body.page_info.end_cursor}`;
    }
    expect(found.map(({ included_ids, ...task }) => task)).toEqual(tasks);
  });

  test('a record that several include counts once', async () => {
    const { body } = await api.get(`/tasks?limit=200&include=contacts&person_id=${ids[0]}`);
    expect(body.data).toHaveLength(2);
    const few = await api.get('/deals?limit=200&include=contacts');
    expect([few.body.data.length, few.body.page_info.has_next_page]).toEqual([1, false]);
    expect(Object.keys(few.body.included.contacts)).toHaveLength(10);
    for (let count = 0; count < 20; count++)
      await api.create('tasks', { name: 'Same', person_id: ids.at(-1), deal_id: deal });
    const same = await api.get(`/tasks?limit=200&include=contacts&include=deals&deal_id=${deal}`);
    expect([same.body.data.length, Object.keys(same.body.included.contacts)]).toEqual([20, [ids.at(-1)]]);
  });
});

test('no more rows are read than a page has, and one', async () => {
  const list = { ownerId: null, filters: {}, createdSince: null, updatedSince: null, after: null };
  const query = { ...list, orgNumber: harness.orgNumber, sortBy: 'created_at', direction: 'asc' } as const;
  const { rows, isCut } = await listRecords(harness.store.read, contacts, { ...query, limit: 201 });
  expect(isCut).toBe(true);
  const texts = rows.map(({ custom }) => Buffer.byteLength(String(custom)));
  const sum = (some: number[]) => some.reduce((total, bytes) => total + bytes, 0);
  expect(sum(texts)).toBeGreaterThan(PAGE_BYTES_MAX);
  expect(sum(texts.slice(0, -1))).toBeLessThanOrEqual(PAGE_BYTES_MAX);
});
