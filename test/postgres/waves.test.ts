// How many ways to the server and back reads take, one after another.
import { afterAll, beforeAll, expect } from 'bun:test';
import { findKey } from '../../db/accounts/keys.ts';
import { getResource } from '../../db/model/resources/registry.ts';
import { accessOfKey } from '../../server/access.ts';
import { getRecord, getRecords } from '../../server/records/records.ts';
import type { Reader } from '../../server/records/rules.ts';
import { readTimeline } from '../../server/records/timeline.ts';
import { isPostgres } from '../support/fresh-databases.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { test } from '../support/on-postgres.ts';
import { insertReadOnly } from '../support/read-only.ts';
import { wavesOf } from '../support/statement-log.ts';
import { type Client, clientOf } from '../support/v2.ts';

const PAGE = { kinds: null, since: null, until: null, isOwnOnly: false, after: null };

let harness: Harness;
let reader: Reader;
let company: Json;
let api: Client;
const ids: Record<string, string> = {};

beforeAll(async () => {
  if (!isPostgres) return;
  harness = await startHarness();
  api = clientOf(harness);
  company = await api.create('companies', { name: 'Acme' });
  const contact = await api.create('contacts', { first_name: 'Ada', company_id: company.id });
  const email = { type: 'EMAIL', direction: 'INBOUND', main_contact: contact.id };
  for (const title of ['First', 'Second', 'Third'])
    ids.interactions = (await api.create('interactions', { ...email, title })).id;
  ids.segments = (await api.create('segments', { name: 'VIP', record_type: 'contact' })).id;
  ids.pipelines = (await api.list('/pipelines'))[0]?.id;
  ids.meetings = await insertReadOnly(harness, 'meetings', { title: 'M', external_id: 'm' });
  const row = await findKey(harness.store.read, (await harness.issue({})).id);
  if (row === undefined) throw new Error('the key is not there');
  reader = { db: harness.store.read, access: accessOfKey(row) };
});
afterAll(() => harness?.close());

test.each(['interactions', 'segments', 'pipelines', 'meetings'])(
  'what is computed for %s is asked together with the records',
  async (name) => {
    const [resource, id = ''] = [getResource(name), ids[name]];
    // Connections are opened when they are needed.
    await getRecord(reader, resource, id);
    expect(await wavesOf(async () => getRecord(reader, resource, id))).toHaveLength(1);
    expect(await wavesOf(() => getRecords(reader, resource, [id]))).toHaveLength(1);
  },
);

test('a page of the timeline of a company takes the record, its entries, and what these are about', async () => {
  const read = () => readTimeline(reader, getResource('companies'), company.id, { ...PAGE, limit: 2 });
  const page = await read();
  expect([page.items.length, page.next === null]).toEqual([2, false]);
  expect(page.items[0]).toMatchObject({ kind: 'interaction', title: 'Third' });
  expect(await wavesOf(read)).toHaveLength(3);
});

test('links of what is on it are asked for together with the records', async () => {
  const firm = await api.create('companies', { name: 'Engines' });
  const contact = await api.create('contacts', { first_name: 'Grace', company_id: firm.id });
  const note = await api.create('notes', { title: 'Met' });
  for (const [record_type, { id: record_id }] of [
    ['company', firm],
    ['contact', contact],
  ] as const)
    await api.post(`/notes/${note.id}/records`, { record_type, record_id });
  const deal = await api.create('deals', { name: 'Mills' });
  await api.post(`/deals/${deal.id}/contacts`, { contact_id: contact.id });
  const read = () => readTimeline(reader, getResource('companies'), firm.id, { ...PAGE, limit: 20 });
  expect((await read()).items.map(({ kind }) => kind)).toEqual(['deal', 'note']);
  expect(await wavesOf(read)).toHaveLength(3);
});

test('in a long log, places in it are looked for together, and so are updates in its spans', async () => {
  const { store, orgNumber } = harness;
  // As if others had made so many changes.
  const meanwhile = () =>
    store.write(orgNumber, (trx) =>
      trx
        .updateTable('org_clocks')
        .set(({ eb }) => ({ last_change: eb('last_change', '+', 40_000) }))
        .where('org_id', '=', orgNumber)
        .execute(),
    );
  const firm = await api.create('companies', { name: 'Works' });
  const contact = await api.create('contacts', { first_name: 'Ida', company_id: firm.id });
  for (let round = 0; round < 5; round++) {
    await meanwhile();
    await api.update('contacts', contact.id, { title: `T${round}` });
  }
  await meanwhile();
  await api.create('contacts', { first_name: 'Jo' });
  const read = () => readTimeline(reader, getResource('companies'), firm.id, { ...PAGE, limit: 20 });
  expect((await read()).items).toHaveLength(5);
  // The record; other entries, and places in the log; spans with updates; these updates; what they are about.
  expect(await wavesOf(read)).toHaveLength(5);
});
