// The tables of timelines: filled in after an upgrade, without what is gone for good, and read by page.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Kysely } from 'kysely';
import { findLogState } from '../../db/changes/log-state.ts';
import { insertTimelineRows } from '../../db/engine/timeline-insert.ts';
import { DIRECTLY, storedKind } from '../../db/engine/timeline-row.ts';
import { up } from '../../db/migrations/0016-timeline-changes.ts';
import { purgeChanges, setChangesDays } from '../../db/removal/change-retention.ts';
import { beginBackfill, isFilled } from '../../db/tables/backfills.ts';
import { textBytes } from '../../db/tables/id-bytes.ts';
import { lastBehind } from '../../db/timeline/updates.ts';
import { startBackfills } from '../../server/backfills.ts';
import { fail } from '../support/background.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { insertReadOnly } from '../support/read-only.ts';
import { until } from '../support/until.ts';
import { type Client, clientOf, uniqueEmail } from '../support/v2.ts';

let harness: Harness;
let api: Client;
beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

/** A company and its contact, with one entry of each kind, and their timelines. */
async function startLife() {
  const { id: firm } = await api.create('companies', { name: 'Firm' });
  const email = uniqueEmail();
  const { id: person } = await api.create('contacts', { email, company_id: firm });
  await api.create('interactions', { type: 'EMAIL', direction: 'INBOUND', title: 'I', main_contact: person });
  const note = await api.create('notes', { title: 'N' });
  await api.post(`/notes/${note.id}/records`, { record_type: 'contact', record_id: person });
  await api.create('tasks', { name: 'T', person_id: person, done: true });
  const deal = await api.create('deals', { name: 'D', company_id: firm });
  await api.post(`/deals/${deal.id}/contacts`, { contact_id: person });
  const { stages } = await api.fetch('pipelines', deal.pipeline_id);
  await api.update('deals', deal.id, { stage_id: stages[1].id });
  const attendee = { name: null, email, contact_id: null };
  await insertReadOnly(harness, 'meetings', {
    title: 'M',
    start_time: 1,
    attendees: [attendee],
    deal_id: deal.id,
  });
  await insertReadOnly(harness, 'bookings', { title: 'B', start_time: 2, attendee });
  await api.update('contacts', person, { title: 'CTO' });
  const paths = [`companies/${firm}`, `contacts/${person}`, `deals/${deal.id}`];
  const shown = () => Promise.all(paths.map((path) => api.list(`/${path}/timeline?limit=200`)));
  return { firm, person, deal: deal.id, note: note.id, paths, shown };
}

const countEntries = async (): Promise<number> => {
  const query = harness.store.read
    .selectFrom('timeline_entries')
    .select((eb) => eb.fn.countAll<number>().as('total'));
  return Number((await query.where('org_id', '=', harness.orgNumber).executeTakeFirstOrThrow()).total);
};

test('are built from what is there, while others write; until then a request is refused for some time', async () => {
  const { store, orgNumber } = harness;
  const life = await startLife();
  const before = await life.shown();
  expect(before.map(({ length }) => length)).toEqual([10, 9, 4]);
  await store.write(orgNumber, async (trx) => {
    await trx.deleteFrom('timeline_entries').where('org_id', '=', orgNumber).execute();
    await beginBackfill(trx, orgNumber, 'timeline');
  });
  const refused = await api.get(`/${life.paths[0]}/timeline`);
  expect([refused.status, Number(refused.headers.get('Retry-After'))]).toEqual([503, 10]);
  // Also of a record that is not there: both are looked at together.
  expect((await api.get(`/contacts/${crypto.randomUUID()}/timeline`)).status).toBe(503);
  // What is there already stays as it is.
  const { id } = await api.create('tasks', { name: 'Meanwhile', person_id: life.person });
  const backfills = startBackfills(store, fail);
  await until(() => isFilled(store.read, orgNumber, 'timeline'));
  await backfills.stop();
  const meanwhile = (items: Json[]) => items.filter(({ record_id }) => record_id === id);
  const after = await life.shown();
  expect(after.map(meanwhile).map(({ length }) => length)).toEqual([1, 1, 0]);
  expect(after.map((items) => items.filter(({ record_id }) => record_id !== id))).toEqual(before);
});

test('forget what no undelete brings back', async () => {
  const { store, clock } = harness;
  const entries = await countEntries();
  const life = await startLife();
  const tasks = (await life.shown())[1]?.filter(({ kind }: Json) => kind === 'task');
  for (const [resource, id] of [
    ['deals', life.deal],
    ['notes', life.note],
    ['contacts', life.person],
    ['companies', life.firm],
    ['tasks', tasks?.[0].record_id],
  ])
    await api.del(`/${resource}/${id}`);
  expect(await countEntries()).toBeGreaterThan(entries);
  // The log begins after them first, and they are removed the next time.
  const later = clock.now + 40 * 86_400_000;
  for (let time = 0; time < 2; time++) await purgeChanges(store, later);
  // The interaction was with nobody else, and the address is still in the meeting and the booking.
  expect(await countEntries()).toBe(entries + 2);
});

test('forget at once where no changes are kept', async () => {
  const { store } = harness;
  await store.write('accounts', (trx) => setChangesDays(trx, 0));
  const entries = await countEntries();
  const { id } = await api.create('contacts');
  const task = await api.create('tasks', { name: 'T', person_id: id });
  expect(await countEntries()).toBe(entries + 1);
  await api.del(`/tasks/${task.id}`);
  expect(await countEntries()).toBe(entries);
  await store.write('accounts', (trx) => setChangesDays(trx, 30));
});

test('have the updates of a log without companies: those that were shown on one, on that, others on the present one', async () => {
  const { store, orgNumber } = harness;
  const former = await api.create('companies', { name: 'Former' });
  const present = await api.create('companies', { name: 'Present' });
  const { id } = await api.create('contacts', { first_name: 'P', company_id: former.id });
  await api.update('contacts', id, { title: 'Shown' });
  const { sequence } = (await api.list(`/contacts/${id}/history`))[0];
  await api.update('contacts', id, { company_id: present.id });
  const free = await api.create('deals', { name: 'Free' });
  await api.update('deals', free.id, { name: 'Without a company' });
  const shown = async (path: string) =>
    (await api.list(`/${path}/timeline?kinds=change`)).map(({ detail }: Json) => detail.after);
  expect(await shown(`companies/${former.id}`)).toEqual([{ company_id: present.id }, { title: 'Shown' }]);
  const row = { org_id: orgNumber, kind: 14, sequence, detail: null };
  await store.write(orgNumber, async (trx) => {
    await trx.schema.dropIndex('changes_company').execute();
    await trx.schema.alterTable('changes').dropColumn('company').execute();
    const entry = { subject: textBytes(id), at: 1, record: textBytes(id), via: textBytes(former.id) };
    await insertTimelineRows(trx, [{ ...row, ...entry }]);
    await up(trx as unknown as Kysely<unknown>);
  });
  expect(await shown(`companies/${former.id}`)).toEqual([{ title: 'Shown' }]);
  expect(await shown(`companies/${present.id}`)).toEqual([{ company_id: present.id }]);
  expect(await shown(`contacts/${id}`)).toEqual([{ company_id: present.id }, { title: 'Shown' }]);
  expect(await shown(`deals/${free.id}`)).toEqual([{ name: 'Without a company' }]);
  const kinds = store.read.selectFrom('timeline_entries').select('kind').where('kind', '>=', 14);
  expect(await kinds.execute()).toEqual([]);
});

test('have updates of one instant by their records, in any number of spans of the log', async () => {
  const { id: company_id } = await api.create('companies', { name: 'Firm' });
  const { id: contact } = await api.create('contacts', { first_name: 'P' });
  const items = Array.from({ length: 100 }, () => ({
    ...{ name: 'D', company_id, point_of_contact_id: contact },
  }));
  const records: string[] = [];
  for (let batch = 0; batch < 11; batch++) {
    const { items: made } = await api.batch('/deals/batch', items);
    records.push(...made.map(({ data }: Json) => data.id));
  }
  // Each changes all deals in one transaction.
  await api.del(`/contacts/${contact}`);
  expect((await api.post(`/contacts/${contact}/undelete`)).status).toBe(200);
  const shown = await api.all(`/companies/${company_id}/timeline?kinds=change`, 199);
  const newestFirst = records.toSorted().reverse();
  expect(shown.map(({ record_id }) => record_id)).toEqual([...newestFirst, ...newestFirst]);
  expect(new Set(shown.map(({ at }) => at)).size).toBe(2);
});

test('show the same page however many entries follow', async () => {
  const { store, orgNumber, clock } = harness;
  const { id } = await api.create('contacts');
  const notes = await api.batch(
    '/notes/batch',
    Array.from({ length: 100 }, () => ({ title: 'N' })),
  );
  const records: string[] = notes.items.map(({ data }: Json) => data.id);
  await api.batch(
    '/links/batch',
    records.map((parent) => ({ of: 'notes.records', parent_id: parent, id, record_type: 'contact' })),
  );
  const path = `/contacts/${id}/timeline?limit=50`;
  const [first, second] = [await api.get(path), await api.get(`${path}&kinds=note`)];
  const row = { org_id: orgNumber, subject: textBytes(id), sequence: 0, via: DIRECTLY, detail: null };
  const many = Array.from({ length: 20_000 }, (_, index) => ({
    ...{ ...row, kind: storedKind(index % 2 === 0 ? 'note' : 'task', false) },
    ...{ at: clock.now - 1_000_000 - index, record: textBytes(records[index % 100] ?? ''), sequence: index },
  }));
  // A statement takes a few seconds at most.
  for (let from = 0; from < many.length; from += 2_000)
    await store.write(orgNumber, async (trx) => insertTimelineRows(trx, many.slice(from, from + 2_000)));
  expect((await api.get(path)).body.data).toEqual(first.body.data);
  expect((await api.get(`${path}&kinds=note`)).body.data).toEqual(second.body.data);
});

describe('in a log of many spans', () => {
  // As if others had made so many changes between two steps.
  const meanwhile = () =>
    harness.store.write(harness.orgNumber, (trx) =>
      trx
        .updateTable('org_clocks')
        .set(({ eb }) => ({ last_change: eb('last_change', '+', 100_000) }))
        .where('org_id', '=', harness.orgNumber)
        .execute(),
    );
  const shown = async (path: string, limit = 200): Promise<string[]> =>
    (await api.all(`/${path}/timeline?`, limit)).map(
      ({ kind, title, detail }) => `${kind} ${detail?.after?.title ?? title}`,
    );

  test('all updates are found, over pages of any size, between what else there is', async () => {
    const { id: firm } = await api.create('companies', { name: 'Firm' });
    const { id } = await api.create('contacts', { last_name: 'P', company_id: firm });
    const untouched = await api.create('contacts', { last_name: 'Q', company_id: firm });
    const expected: string[] = [];
    for (let round = 0; round < 4; round++) {
      await meanwhile();
      await api.update('contacts', id, { title: `T${round}` });
      await meanwhile();
      await api.create('tasks', { name: `Of ${round}`, person_id: id });
      expected.unshift(`task Of ${round}`, `change T${round}`);
    }
    await meanwhile();
    for (const limit of [200, 3, 1]) {
      expect(await shown(`contacts/${id}`, limit)).toEqual(expected);
      expect(await shown(`companies/${firm}`, limit)).toEqual(expected);
      expect(await shown(`contacts/${untouched.id}`, limit)).toEqual([]);
    }
  });

  test('updates of a record are looked for until its last one', async () => {
    const { store, orgNumber } = harness;
    const { id } = await api.create('contacts', { last_name: 'P' });
    await api.update('contacts', id, { title: 'T' });
    await meanwhile();
    await api.create('contacts', { last_name: 'Later' });
    const log = await findLogState(store.read, orgNumber);
    const record = await api.fetch('contacts', id);
    const lastAt = Date.parse(record.updated_at);
    const last = await lastBehind(store.read, orgNumber, log, { at: log.instant, lastAt });
    expect(log.last - last).toBeGreaterThan(99_000);
    const later = store.read.selectFrom('changes').select('sequence').where('sequence', '>', last);
    expect(await later.where('record', '=', textBytes(id)).execute()).toEqual([]);
  });
});
