// The history of a record: its changes, newest first, for those who see it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import { setChangesDays } from '../../db/removal/change-retention.ts';
import { beginChangesEpoch } from '../../db/tables/settings.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { insertReadOnly } from '../support/read-only.ts';
import { ABSENT, type Client, clientOf, expectFault } from '../support/v2.ts';

let harness: Harness;
let api: Client;
beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

const historyOf = async (resource: string, id: string, client = api, query = ''): Promise<Json> =>
  (await client.get(`/${resource}/${id}/history${query}`)).body;
const actions = ({ data }: Json) => data.map(({ action }: Json) => action);

describe('a history', () => {
  test('has the changes of the record alone, newest first, as the feed has them but without the record', async () => {
    const { id } = await api.create('contacts', { first_name: 'Ada' });
    await api.create('contacts', { first_name: 'Other' });
    await api.update('contacts', id, { title: 'CTO' });
    const { data } = (await api.get(`/changes?resource=contacts&record_id=${id}`)).body;
    const expected = data.map(({ record, ...change }: Json) => {
      expect(record.id).toBe(id);
      return change;
    });
    const { object, data: history, page_info } = await historyOf('contacts', id);
    expect([object, history]).toEqual(['list', expected.toReversed()]);
    expect(page_info).toEqual({ has_next_page: false, end_cursor: expect.any(String) });
    expect(history[0]).toMatchObject({ action: 'updated', before: { title: null }, after: { title: 'CTO' } });
  });

  test('of a deleted record goes on, and ends with what the delete caused', async () => {
    const [deal, contact] = [await api.create('deals'), await api.create('contacts')];
    await api.post(`/deals/${deal.id}/contacts`, { contact_id: contact.id });
    await api.del(`/deals/${deal.id}`);
    expect(actions(await historyOf('deals', deal.id))).toEqual(['unlinked', 'deleted', 'linked', 'created']);
  });

  test('is there for every resource', async () => {
    for (const { name, verbs } of RESOURCES) {
      const isMade = verbs.includes('create');
      const id = isMade ? (await api.create(name)).id : await insertReadOnly(harness, name);
      expect({ [name]: actions(await historyOf(name, id)) }).toEqual({ [name]: ['created'] });
    }
  });

  test('is walked page by page, each change once', async () => {
    const { id } = await api.create('tasks', { name: '0' });
    for (let count = 1; count < 8; count++) await api.update('tasks', id, { name: String(count) });
    const names: string[] = [];
    for (let query = '?limit=3', pages = 1; ; pages++) {
      const { data, page_info } = await historyOf('tasks', id, api, query);
      names.push(...data.map(({ action, after }: Json) => after?.name ?? action));
      expect(page_info.has_next_page).toBe(pages < 3);
      if (!page_info.has_next_page) break;
      query = `?limit=3&cursor=${page_info.end_cursor}`;
    }
    expect(names).toEqual(['7', '6', '5', '4', '3', '2', '1', 'created']);
    const exact = await historyOf('tasks', id, api, '?limit=8');
    expect([exact.data.length, exact.page_info.has_next_page]).toEqual([8, false]);
  });

  test('is 404 of what there never was, of another organization, and where none is kept', async () => {
    expect((await api.get(`/deals/${ABSENT}/history`)).body.error.code).toBe('RESOURCE_NOT_FOUND');
    const { id } = await api.create('deals');
    expect((await api.get(`/tasks/${id}/history`)).status).toBe(404);
    const other = clientOf(harness, (await harness.issue({ orgNumber: harness.otherOrgNumber })).key);
    expect((await other.get(`/deals/${id}/history`)).status).toBe(404);
    await api.del(`/deals/${id}`);
    expect((await other.get(`/deals/${id}/history`)).status).toBe(404);
    const keep = (days: number) => harness.store.write('accounts', (trx) => setChangesDays(trx, days));
    const { id: kept } = await api.create('deals');
    await keep(0);
    const reply = await api.get(`/deals/${kept}/history`);
    expect([reply.status, reply.body.error.message]).toEqual([
      404,
      expect.stringContaining('keeps no changes'),
    ]);
    await api.update('deals', kept, { name: 'Unlogged' });
    await keep(30);
    expect((await historyOf('deals', kept)).data).toEqual([]);
    expect((await api.get(`/deals/${id}/history`)).status).toBe(404);
  });

  test('shows links to those who may list them', async () => {
    const [deal, contact, company] = [
      await api.create('deals'),
      await api.create('contacts'),
      await api.create('companies'),
    ];
    await api.post(`/deals/${deal.id}/contacts`, { contact_id: contact.id });
    await api.post(`/deals/${deal.id}/companies`, { company_id: company.id });
    const reader = clientOf(harness, (await harness.issue({ scopes: ['deals:read', 'companies:read'] })).key);
    expect(actions(await historyOf('deals', deal.id, reader))).toEqual(['linked', 'created']);
    const none = clientOf(harness, (await harness.issue({ scopes: ['contacts:read'] })).key);
    expect((await none.get(`/deals/${deal.id}/history`)).status).toBe(403);
  });
});

describe('a user-bound key', () => {
  test('sees a record from where it last came into its sight', async () => {
    const { alice, bob } = harness;
    const client = clientOf(harness, (await harness.issue({ userId: alice })).key);
    const { id } = await api.create('companies', { name: 'A', owner_id: alice });
    await api.update('companies', id, { name: 'B' });
    expect(actions(await historyOf('companies', id, client))).toEqual(['updated', 'created']);
    await api.update('companies', id, { owner_id: bob });
    expect((await client.get(`/companies/${id}/history`)).status).toBe(404);
    await api.update('companies', id, { name: 'C' });
    await api.update('companies', id, { owner_id: alice });
    await api.update('companies', id, { name: 'D' });
    const { data, page_info } = await historyOf('companies', id, client);
    expect(data).toMatchObject([
      { action: 'updated', sequence: null, before: { name: 'C' }, after: { name: 'D' } },
      { action: 'created', sequence: null, before: null, after: null },
    ]);
    expect(page_info.has_next_page).toBe(false);
    const [first] = [await historyOf('companies', id, client, '?limit=1')];
    expect(first?.page_info.has_next_page).toBe(true);
    await api.del(`/companies/${id}`);
    expect(actions(await historyOf('companies', id, client))).toEqual(['deleted', 'updated', 'created']);
    const hidden = clientOf(harness, (await harness.issue({ userId: bob })).key);
    expect((await hidden.get(`/companies/${id}/history`)).status).toBe(404);
  });
});

test('a cursor is of one record and one user, and of the database before a restore', async () => {
  const [one, other] = [await api.create('tasks', { name: 'A' }), await api.create('tasks', { name: 'B' })];
  await api.update('tasks', one.id, { name: 'C' });
  const { end_cursor } = (await historyOf('tasks', one.id, api, '?limit=1')).page_info;
  const another = clientOf(harness, (await harness.issue()).key);
  expect((await another.get(`/tasks/${one.id}/history?cursor=${end_cursor}`)).status).toBe(200);
  const alice = clientOf(harness, (await harness.issue({ userId: harness.alice })).key);
  for (const reply of [
    await api.get(`/tasks/${other.id}/history?cursor=${end_cursor}`),
    await api.get(`/changes?resource=tasks&cursor=${end_cursor}`),
    await alice.get(`/tasks/${one.id}/history?cursor=${end_cursor}`),
  ])
    expectFault(reply, 'VALIDATION_INVALID_FORMAT', 'cursor');
  await harness.store.write('accounts', beginChangesEpoch);
  expectFault(
    await api.get(`/tasks/${one.id}/history?cursor=${end_cursor}`),
    'VALIDATION_OUT_OF_RANGE',
    'cursor',
  );
});
