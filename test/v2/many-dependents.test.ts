// A record on which more depends than is found at a time: it is deleted in one piece, by few statements, and comes back as it was.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { CHANGE_ACTIONS, CHANGE_RESOURCES } from '../../db/changes/changes.ts';
import { findLogState } from '../../db/changes/log-state.ts';
import { listChanges } from '../../db/changes/queries.ts';
import { actingAs } from '../../db/engine/acting.ts';
import { OPERATOR } from '../../db/engine/author.ts';
import { bulkInsert } from '../../db/engine/bulk-insert.ts';
import type { RecordTrx } from '../../db/engine/schema.ts';
import { inParts } from '../../db/event-loop.ts';
import type { Resource } from '../../db/model/resource.ts';
import { contacts } from '../../db/model/resources/contacts.ts';
import { deals } from '../../db/model/resources/deals.ts';
import { interactions, involvedContacts } from '../../db/model/resources/interactions.ts';
import { getLinkKind } from '../../db/model/resources/link-kinds.ts';
import { notes } from '../../db/model/resources/notes.ts';
import { tasks } from '../../db/model/resources/tasks.ts';
import { ROWS_AT_ONCE } from '../../db/records/dependent-finds.ts';
import { insertLinks } from '../../db/records/link-batches.ts';
import { insertReservedRecords } from '../../db/records/records.ts';
import { idOfBytes } from '../../db/tables/id-bytes.ts';
import { recordId } from '../../db/tables/record-id.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { type Observed, observeConnections } from '../support/statement-log.ts';
import { threadMs } from '../support/thread-time.ts';
import { type Client, clientOf } from '../support/v2.ts';

const MANY = ROWS_AT_ONCE + 300;
// A thousand rows are changed at a time.
const STATEMENTS_MAX = 150;
// One second is enough; to compare each link with all others took half a minute.
const LINKING_MS_MAX = 8_000;

let observed: Observed;
let harness: Harness;
let api: Client;
beforeAll(async () => {
  observed = observeConnections();
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(async () => {
  await harness.close();
  observed[Symbol.dispose]();
});

const write = <T>(job: (trx: RecordTrx) => Promise<T>) =>
  harness.store.write(harness.orgNumber, (trx) => job(actingAs(trx, OPERATOR)));

/** Creates many records; returns their IDs. */
async function createMany(resource: Resource, data: Json | ((index: number) => Json)): Promise<string[]> {
  const now = harness.clock.now++;
  const records = Array.from({ length: MANY }, (_, index) => {
    return { id: recordId(now), data: typeof data === 'function' ? data(index) : data };
  });
  const origin = { orgNumber: harness.orgNumber, createdBy: harness.alice, now };
  // PostgreSQL gives a statement seven seconds, in which a busy machine does not insert all of them.
  await write((trx) => inParts(records, (some) => insertReservedRecords(trx, resource, origin, some)));
  return records.map(({ id }) => id);
}

/** Links each parent to one child, or the parent to each child. */
async function linkMany(name: string, rows: { parent_id: string; child_id: string }[], own: Json = {}) {
  const now = harness.clock.now++;
  const writing = {
    orgNumber: harness.orgNumber,
    now,
    end: (_: string, id: string) => ({ id, record_type: 'contact' }),
  };
  // In another order than that of the IDs.
  const links = rows.map((row, index) => ({ ...row, ...own, linked_at: now + ((index * 7_919) % MANY) }));
  const startedMs = threadMs();
  await write((trx) => insertLinks(trx, getLinkKind(name), writing, links));
  expect(threadMs() - startedMs).toBeLessThan(LINKING_MS_MAX);
}

async function rowsOf(table: string, where: readonly [column: string, id: string]): Promise<Json[]> {
  const { store, orgNumber } = harness;
  const rows = await store.read
    .selectFrom(table as 'links')
    .selectAll()
    .where('org_id', '=', orgNumber)
    .where(where[0] as never, '=', where[1] as never)
    .execute();
  const texts = rows.map(({ updated_at: _, ...row }: Json) => JSON.stringify(row));
  return texts.toSorted();
}

/** Changes that followed the last one of the record, all of which it caused. */
async function causedBy(resource: string, id: string, action: 'deleted' | 'undeleted') {
  const { store, orgNumber } = harness;
  store.endSnapshot();
  const { last: to } = await findLogState(store.read, orgNumber);
  const all = { orgNumber, from: 1, to, direction: 'asc', request: null } as const;
  const own = { ...all, resources: [resource], recordId: id, action, limit: 2 };
  const [cause, another] = (await listChanges(store.read, own)).rows;
  expect(another).toBeUndefined();
  const from = (cause?.sequence ?? 0) + 1;
  const rest = { ...all, from, resources: CHANGE_RESOURCES, recordId: null, action: null, limit: 3 * MANY };
  const { rows } = await listChanges(store.read, rest);
  expect(rows.map(({ sequence }) => sequence)).toEqual(rows.map((_, index) => from + index));
  expect(new Set(rows.map((row) => row.cause))).toEqual(new Set([from - 1]));
  return rows.map((row) => ({
    what: `${CHANGE_RESOURCES[row.resource]} ${CHANGE_ACTIONS[row.action]}`,
    record: idOfBytes(row.record),
    values: JSON.parse(row.data ?? 'null'),
  }));
}

/** What a request asks, apart from rows that it inserts. */
async function countStatements(request: () => Promise<{ status: number }>, status: number): Promise<number> {
  observed.asked.length = 0;
  expect((await request()).status).toBe(status);
  return observed.asked.filter((text) => !/^insert/i.test(text)).length;
}

/** Deletes and restores a record, and compares all that depends on it. */
async function deleteAndRestore(resource: string, id: string, places: Record<string, string>) {
  const content = async () => {
    harness.store.endSnapshot();
    return Promise.all(Object.entries(places).map(([table, column]) => rowsOf(table, [column, id])));
  };
  const before = await content();
  expect(before.map(({ length }) => length)).toEqual(before.map(() => MANY));
  const deleting = await countStatements(() => api.del(`/${resource}/${id}`), 204);
  expect(await content()).toEqual(before.map(() => []));
  const removed = await causedBy(resource, id, 'deleted');
  const restoring = await countStatements(() => api.post(`/${resource}/${id}/undelete`), 200);
  expect(await content()).toEqual(before);
  const restored = await causedBy(resource, id, 'undeleted');
  expect(Math.max(deleting, restoring)).toBeLessThan(STATEMENTS_MAX);
  return { removed, restored };
}

const ids = (changes: readonly { record: string }[]) => changes.map(({ record }) => record).toSorted();

test.each([
  ['companies', 'contacts', 'company_id', contacts, { first_name: 'A' }],
  ['notes', 'notes', 'parent_id', notes, { content: 'C', is_archived: false }],
] as const)('%s to which many %s refer', async (name, referring, column, resource, data) => {
  const { id } = await api.create(name);
  const created = await createMany(resource, { ...data, [column]: id });
  const { removed, restored } = await deleteAndRestore(name, id, { [referring]: column });
  const to = { [column]: id };
  const none = { [column]: null };
  for (const [changes, values] of [
    [removed, { before: to, after: none }],
    [restored, { before: none, after: to }],
  ] as const) {
    expect(ids(changes)).toEqual(created.toSorted());
    expect(new Set(changes.map(({ what }) => what))).toEqual(new Set([`${referring} updated`]));
    expect(new Set(changes.map((one) => JSON.stringify(one.values)))).toEqual(
      new Set([JSON.stringify(values)]),
    );
  }
});

test('segments with many members', async () => {
  const { id } = await api.create('segments', { name: 'S', record_type: 'contact' });
  const members = await createMany(contacts, { first_name: 'M', owner_id: harness.bob });
  await linkMany(
    'segments.members',
    members.map((child_id) => ({ parent_id: id, child_id })),
  );
  const { removed, restored } = await deleteAndRestore('segments', id, { segment_members: 'segment_id' });
  expect(new Set(removed.map(({ what }) => what))).toEqual(new Set(['segments unlinked']));
  expect(new Set(restored.map(({ what }) => what))).toEqual(new Set(['segments linked']));
  for (const changes of [removed, restored]) {
    expect(changes.map(({ values }) => values.id).toSorted()).toEqual(members.toSorted());
    expect(new Set(changes.map(({ values }) => values.owner))).toEqual(new Set([harness.bob]));
  }
});

test('contacts with many interactions, who supervise many others', async () => {
  const { id } = await api.create('contacts');
  const other = (await api.create('contacts')).id;
  const { id: _, ...deal } = await api.create('deals', { name: 'D' });
  const led = await createMany(deals, {
    ...{ name: 'D', pipeline_id: deal.pipeline_id, stage_id: deal.stage_id, status: 'open' },
  });
  await linkMany(
    'deals.contacts',
    led.map((parent_id) => ({ parent_id, child_id: other })),
    { supervisor: id },
  );
  const said = { type: 'NOTE', direction: 'INTERNAL', title: 'T', main_contact: id };
  // In another order than that of the IDs.
  const logged = await createMany(interactions, (index: number) => ({
    ...said,
    interaction_date: (index * 7_919) % 100,
  }));
  const { table, parentColumn, childColumn } = involvedContacts;
  const involved = logged.map((one) => ({
    org_id: harness.orgNumber,
    [parentColumn]: one,
    [childColumn]: id,
  }));
  const insert = bulkInsert(table, ['org_id', parentColumn, childColumn]);
  await write((trx) => inParts(involved, (some) => insert(trx, some)));
  const places = {
    interactions: 'main_contact',
    interaction_contacts: 'contact_id',
    deal_contacts: 'supervisor',
  };
  const { removed, restored } = await deleteAndRestore('contacts', id, places);
  for (const changes of [removed, restored]) {
    const byKind = Map.groupBy(changes, ({ what }) => what);
    expect([...byKind.keys()].toSorted()).toEqual(['deals linked', 'interactions updated']);
    expect(ids(byKind.get('deals linked') ?? [])).toEqual(led.toSorted());
    expect(ids(byKind.get('interactions updated') ?? [])).toEqual(logged.toSorted());
  }
});

test('contacts that are deleted together, one the supervisor of the other', async () => {
  const [deal, contact, boss] = [
    await api.create('deals'),
    await api.create('contacts'),
    await api.create('contacts'),
  ];
  await createMany(tasks, { name: 'T', person_id: boss.id, main_assignee_id: harness.alice });
  for (const { id } of [contact, boss])
    await api.post(`/deals/${deal.id}/contacts`, { contact_id: id, supervisor: boss.id });
  const linked = () => api.list(`/deals/${deal.id}/contacts`);
  const before = (await linked()).map(({ id, supervisor }: Json) => [id, supervisor]).toSorted();
  await api.batch('/contacts/batch/delete', [boss.id, contact.id]);
  for (const id of [boss.id, contact.id]) await api.post(`/contacts/${id}/undelete`);
  expect((await linked()).map(({ id, supervisor }: Json) => [id, supervisor]).toSorted()).toEqual(before);
  expect(await rowsOf('tasks', ['person_id', boss.id])).toHaveLength(MANY);
});
