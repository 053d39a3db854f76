// Pages of the feed of changes: with any filter, size and direction, they give what the whole log has of it, each change once.

import { afterAll, beforeAll, expect, spyOn, test } from 'bun:test';
import { actingAs } from '../../db/engine/acting.ts';
import { OPERATOR } from '../../db/engine/author.ts';
import { contacts } from '../../db/model/resources/contacts.ts';
import { insertReservedRecords } from '../../db/records/records.ts';
import { recordId } from '../../db/tables/record-id.ts';
import { isPostgres } from '../support/fresh-databases.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { wavesOf } from '../support/statement-log.ts';
import { type Client, clientOf } from '../support/v2.ts';

let harness: Harness;
let api: Client;
/** All changes in order, from pages of the whole log. */
let log: Json[];
/** Of records with changes of several kinds, and of some made with many others. */
let watched: string[];

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
  watched = [];
  const { alice, bob } = harness;
  const owners = [() => alice, () => null, (index: number) => [alice, bob, null][index % 3]];
  for (const ownerOf of owners) {
    const items = Array.from({ length: 100 }, (_, index) => ({ first_name: 'A', owner_id: ownerOf(index) }));
    const { data } = (await api.post('/contacts/batch', items)).body;
    const ids: string[] = data.items.map(({ data: made }: Json) => made.id);
    for (const index of [0, 1, 50, 99]) {
      const [id = '', other = ''] = [ids[index], ids[index - 1]];
      watched.push(id);
      await api.update('contacts', id, { title: `T${index}` });
      const { id: deal } = await api.create('deals', { name: 'D' });
      await api.post(`/deals/${deal}/contacts`, { contact_id: id });
      if (index === 50) await api.post('/contacts/batch/delete', [id, other]);
      watched.push(deal);
    }
  }
  const invalid = [{ name: 'A' }, { name: 'B', company_id: recordId(1) }, { name: 'C' }];
  await api.post('/tasks/batch', invalid);
  const talk = { type: 'EMAIL', direction: 'INBOUND', title: 'T', main_contact_email: 'new@x.example' };
  const { main_contact, id } = await api.create('interactions', talk);
  watched.push(id, main_contact, recordId(harness.clock.now), 'unknown');
  watched.push(...(await createTogether(350)));
  await api.create('tasks', { name: 'Last' });
  log = await walk('', 200);
});
afterAll(() => harness.close());

/** Makes contacts in one transaction; returns the IDs of a few. */
async function createTogether(count: number): Promise<string[]> {
  const { store, orgNumber, clock } = harness;
  clock.now += 1;
  const now = clock.now;
  const records = Array.from({ length: count }, () => ({ id: recordId(now), data: { first_name: 'A' } }));
  await store.write(orgNumber, async (trx) =>
    insertReservedRecords(actingAs(trx, OPERATOR), contacts, { orgNumber, createdBy: 'x', now }, records),
  );
  return [0, 99, 100, count - 1].map((index) => records[index]?.id ?? '');
}

async function walk(query: string, limit: number): Promise<Json[]> {
  const changes: Json[] = [];
  for (let cursor = ''; ; ) {
    const { body, text } = await api.get(`/changes?limit=${limit}&${query}${cursor}`);
    if (body.data === undefined) throw new Error(text);
    expect(body.data.length).toBeLessThanOrEqual(limit);
    changes.push(...body.data);
    if (!body.page_info.has_next_page) return changes;
    cursor = `&cursor=${body.page_info.end_cursor}`;
  }
}

test('the log has no gap, its instants never go back, and a record begins with its create', () => {
  expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1));
  expect(log.map(({ at }) => at)).toEqual(log.map(({ at }) => at).toSorted());
  const created = new Set<string>();
  for (const { action, record_id } of log) {
    expect({ record_id, isFirst: !created.has(record_id) }).toEqual({
      record_id,
      isFirst: action === 'created',
    });
    created.add(record_id);
  }
});

const nth = (changes: Json[], index: number) => changes.at(index) as Json;

test('pages of any size give each change once, in both directions', async () => {
  for (const limit of [7, 64, 150]) {
    expect(await walk('', limit)).toEqual(log);
    expect(await walk('sort_direction=desc', limit)).toEqual(log.toReversed());
  }
});

test('filters give what the whole log has of it, in both directions', async () => {
  const requests = new Set(log.map(({ request_id }) => request_id ?? ''));
  const filters: [query: string, limit: number, isGiven: (change: Json) => boolean][] = [
    ['resource=contacts', 33, ({ resource }) => resource === 'contacts'],
    ['resource=deals&resource=tasks', 3, ({ resource }) => ['deals', 'tasks'].includes(resource)],
    ['action=created', 60, ({ action }) => action === 'created'],
    ['action=updated', 2, ({ action }) => action === 'updated'],
    ...[...requests].map((request): (typeof filters)[number] => [
      `request_id=${request}`,
      9,
      ({ request_id }) => request_id === request,
    ]),
  ];
  for (const [query, limit, isGiven] of filters) {
    if (query === 'request_id=') continue;
    const expected = log.filter(isGiven);
    expect(expected).not.toEqual([]);
    expect({ query, changes: await walk(query, limit) }).toEqual({ query, changes: expected });
    expect(await walk(`${query}&sort_direction=desc`, limit)).toEqual(expected.toReversed());
  }
});

test('the changes of a record are found wherever it was created', async () => {
  for (const id of watched)
    for (const resource of ['contacts', 'deals', 'interactions'])
      for (const action of ['', 'created', 'updated']) {
        const expected = log.filter(
          (one) =>
            one.record_id === id && one.resource === resource && (action === '' || one.action === action),
        );
        const query = `resource=${resource}&record_id=${id}${action && `&action=${action}`}`;
        for (const limit of [1, 2, 20]) {
          expect({ query, changes: await walk(query, limit) }).toEqual({ query, changes: expected });
          expect(await walk(`${query}&sort_direction=desc`, limit)).toEqual(expected.toReversed());
        }
      }
});

test('the feed begins and ends at any instant', async () => {
  const instants = [...new Set(log.map(({ at }) => Date.parse(at)))];
  for (const instant of instants.filter((_, index) => index % 3 === 0)) {
    const since = log.find(({ at }) => Date.parse(at) >= instant);
    const { data } = (await api.get(`/changes?limit=1&start=${instant}`)).body;
    expect(data[0].sequence).toBe(since?.sequence);
    const until = log.findLast(({ at }) => Date.parse(at) <= instant);
    const back = (await api.get(`/changes?limit=1&sort_direction=desc&start=${instant}`)).body;
    expect(back.data[0].sequence).toBe(until?.sequence);
  }
  expect(nth(log, -1).record.name).toBe('Last');
});

test('the changes of a record far apart: pages can be empty, and the reader gives others their turn', async () => {
  const own = await startHarness();
  const client = clientOf(own);
  const { store, orgNumber, clock } = own;
  const { id } = await client.create('tasks', { name: 'T' });
  const updateAfter = async (last: number) => {
    clock.now += 1_000;
    await store.write(orgNumber, (trx) =>
      trx.updateTable('org_clocks').set({ last_change: last }).where('org_id', '=', orgNumber).execute(),
    );
    await client.update('tasks', id, { name: `After ${last}` });
  };
  // Beside a loop as busy as the one below, PostgreSQL takes too long for a response to ask for more pieces than this.
  await updateAfter(isPostgres ? 4_000_000 : 30_000_000);
  let turns = 0;
  let timer = setImmediate(function count() {
    turns += 1;
    timer = setImmediate(count);
  });
  let actions: string[] = [];
  const waves = await wavesOf(async () => {
    const { body } = await withSlowClock(() => client.get(`/tasks/${id}/history`));
    actions = body.data.map(({ action }: Json) => action);
  });
  clearImmediate(timer);
  expect(actions).toEqual(['updated', 'created']);
  // How often others run while a server answers is up to the machine: at least once for each answer.
  expect(turns).toBeGreaterThan(isPostgres ? waves.length : 100);
  await updateAfter(40_000_000);
  for (const direction of ['asc', 'desc']) {
    const pages: string[][] = [];
    for (let cursor = ''; ; ) {
      const query = `resource=tasks&record_id=${id}&sort_direction=${direction}${cursor}`;
      const { data, page_info } = (await client.get(`/changes?${query}`)).body;
      pages.push(data.map(({ action }: Json) => action));
      if (!page_info.has_next_page) break;
      cursor = `&cursor=${page_info.end_cursor}`;
    }
    const found = ['created', 'updated', 'updated'];
    expect(pages.flat()).toEqual(direction === 'asc' ? found : found.toReversed());
    expect(pages).toHaveLength(5);
  }
  await own.close();
});

// Each look at the clock is more than a turn of 10 ms later, as on a machine so slow that every piece of a search takes a
// whole one; with much more, eight seconds pass soon, after which PostgreSQL counts as silent.
async function withSlowClock<T>(act: () => Promise<T>): Promise<T> {
  let ms = performance.now();
  using _ = spyOn(performance, 'now').mockImplementation(() => (ms += 11));
  return await act();
}
