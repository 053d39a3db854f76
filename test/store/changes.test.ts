// The log of changes itself: how long it is kept, and deletes that cause many changes.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { CHANGE_RESOURCES } from '../../db/changes/changes.ts';
import { findLogState } from '../../db/changes/log-state.ts';
import { listChanges } from '../../db/changes/queries.ts';
import { actingAs } from '../../db/engine/acting.ts';
import { OPERATOR } from '../../db/engine/author.ts';
import { inParts } from '../../db/event-loop.ts';
import { contacts } from '../../db/model/resources/contacts.ts';
import { insertReservedRecords } from '../../db/records/records.ts';
import { countChanges, purgeChanges, setChangesDays } from '../../db/removal/change-retention.ts';
import { recordId } from '../../db/tables/record-id.ts';
import { ChangeMirror, listsOf } from '../support/change-mirror.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { type Client, clientOf } from '../support/v2.ts';

const DAY_MS = 86_400_000;

let harness: Harness;
let api: Client;
beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

/** Makes contacts of a company, more than a page of rows, in one transaction. */
async function fill(company: string, count: number): Promise<void> {
  const { store, orgNumber, clock } = harness;
  clock.now += 1;
  const now = clock.now;
  const records = Array.from({ length: count }, () => ({
    id: recordId(now),
    data: { first_name: 'A', company_id: company },
  }));
  const origin = { orgNumber, createdBy: 'integration', now };
  // PostgreSQL gives a statement seven seconds, in which a busy machine does not insert all of them.
  await store.write(orgNumber, (trx) =>
    inParts(records, (some) => insertReservedRecords(actingAs(trx, OPERATOR), contacts, origin, some)),
  );
}

const page = async (query: string) => (await api.get(`/changes?${query}`)).body;

test('a delete that causes thousands of changes leaves each of them, right after it', async () => {
  const [many, few] = [await api.create('companies'), await api.create('companies')];
  await fill(many.id, 5_600);
  const mirror = new ChangeMirror(api, false);
  await mirror.copy({ records: () => [], links: () => [] });
  const { head } = (await page('start=now')).page_info;
  const { data } = (await api.post('/companies/batch/delete', [few.id, 'absent', many.id])).body;
  expect(data.summary).toEqual({ total: 3, succeeded: 2, failed: 1 });
  await mirror.follow();
  const after = (await page('start=now')).page_info.head;
  expect(after - head).toBe(2 + 5_600);
  const [last] = (await page('sort_direction=desc&limit=1')).data;
  expect(last).toMatchObject({ action: 'updated', before: { company_id: many.id }, cause: head + 2 });
});

test('nothing of a record follows its delete, also if records with many dependents go together', async () => {
  const parent = (await api.create('notes', { title: 'Parent' })).id;
  const notes: string[] = [parent];
  for (let batch = 0; batch < 6; batch++) {
    const items = Array.from({ length: 100 }, () => ({ title: 'Child', parent_id: parent }));
    const made = (await api.post('/notes/batch', items)).body.data.items;
    notes.push(...made.map(({ data }: { data: { id: string } }) => data.id));
  }
  const [boss, people] = [(await api.create('contacts')).id, [] as string[]];
  for (let index = 0; index < 3; index++) people.push((await api.create('contacts')).id);
  for (let batch = 0; batch < 2; batch++) {
    const deals = Array.from({ length: 100 }, () => ({ name: 'D' }));
    const made = (await api.post('/deals/batch', deals)).body.data.items;
    for (const { data } of made)
      for (const contact_id of people)
        expect((await api.post(`/deals/${data.id}/contacts`, { contact_id, supervisor: boss })).status).toBe(
          200,
        );
  }
  const mirror = new ChangeMirror(api, false);
  await mirror.copy({ records: () => [], links: () => [] });
  const { end_cursor } = (await page('start=now')).page_info;
  const [first = '', second = ''] = people;
  await api.post('/notes/batch/delete', [notes[1], parent, notes[2], notes[599]]);
  await api.post('/contacts/batch/delete', [first, boss, second]);
  await mirror.follow();
  const deleted = new Set<string>();
  let cursor = end_cursor;
  for (let isMore = true; isMore; ) {
    const { data, page_info } = await page(`limit=200&cursor=${cursor}`);
    for (const { action, record_id, link } of data) {
      expect({ action, record_id, isGone: deleted.has(record_id) }).toEqual({
        action,
        record_id,
        isGone: false,
      });
      // Nothing is said of a link whose end is gone but that it goes.
      if (action === 'linked') expect(deleted.has(link.id)).toBe(false);
      if (action === 'deleted') deleted.add(record_id);
    }
    cursor = page_info.end_cursor;
    isMore = page_info.has_next_page;
  }
  expect(deleted.size).toBe(7);
});

test('a part that is refused after it wrote takes its changes back, also those that were written already', async () => {
  const { store, orgNumber } = harness;
  const { head } = (await page('start=now')).page_info;
  const company = (await api.create('companies')).id;
  const failing = store.write(orgNumber, async (trx) => {
    const now = harness.clock.now + 1;
    const records = Array.from({ length: 6_000 }, () => ({ id: recordId(now), data: { first_name: 'A' } }));
    const origin = { orgNumber, createdBy: 'integration', now };
    await inParts(records, (some) => insertReservedRecords(actingAs(trx, OPERATOR), contacts, origin, some));
    throw new Error('refused');
  });
  const [refused] = await Promise.allSettled([failing, api.create('tasks', { name: 'Beside' })]);
  expect(refused.status).toBe('rejected');
  const { data } = await page(`limit=200&sort_direction=desc`);
  const made = data.filter(({ sequence }: { sequence: number }) => sequence > head);
  expect(made.map(({ sequence }: { sequence: number }) => sequence)).toEqual([head + 2, head + 1]);
  expect(made.map(({ resource }: { resource: string }) => resource)).toEqual(['tasks', 'companies']);
  await api.del(`/companies/${company}`);
});

test('changes are removed once they are older than they are kept, and the feed begins after them', async () => {
  const { store, clock } = harness;
  const { end_cursor, head } = (await page('limit=1')).page_info;
  clock.now += 40 * DAY_MS;
  await api.create('tasks', { name: 'Later' });
  expect(await countChanges(store.read)).toBeGreaterThan(head);
  const log = await findLogState(store.read, harness.orgNumber);
  expect(await purgeChanges(store, clock.now)).toBe(0);
  // What a reader has just found there is not removed at once.
  const kept = { orgNumber: harness.orgNumber, from: log.first, to: log.last, limit: 1 };
  const all = { resources: CHANGE_RESOURCES, recordId: null, action: null, request: null };
  const { rows } = await listChanges(store.read, { ...all, ...kept, direction: 'asc' });
  expect(rows).toMatchObject([{ sequence: log.first }]);
  const { data, page_info } = await page('');
  expect([data.length, page_info.oldest, page_info.head]).toEqual([1, head + 1, head + 1]);
  expect((await api.get(`/changes?cursor=${end_cursor}`)).status).toBe(422);
  expect((await api.get('/changes?start=0')).body.error.details[0].message).toContain(data[0].at);
  // The first pipelines of both organizations are among them.
  expect(await purgeChanges(store, clock.now)).toBe(head + 1);
  expect(await purgeChanges(store, clock.now)).toBe(0);
  await store.write('accounts', (trx) => setChangesDays(trx, 0));
  expect(await purgeChanges(store, clock.now)).toBe(0);
  expect(await countChanges(store.read)).toBe(0);
  expect(await purgeChanges(store, clock.now)).toBe(1);
  expect(await store.read.selectFrom('changes').selectAll().execute()).toEqual([]);
  await store.write('accounts', (trx) => setChangesDays(trx, 30));
});

test('a copy stays exact while the log is purged', async () => {
  const mirror = new ChangeMirror(api, false);
  const kept = listsOf(api);
  const truth = {
    ...kept,
    records: async (name: string) => (name === 'contacts' ? [] : kept.records(name)),
  };
  await mirror.copy(truth);
  await purgeChanges(harness.store, harness.clock.now);
  await api.create('companies');
  await mirror.follow();
  await mirror.expectSame(truth);
});
