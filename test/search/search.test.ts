// GET /search over HTTP: what is found, in which order and tier, page by page.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { getResource } from '../../db/model/resources/registry.ts';
import { queryOf } from '../../db/model/search-query.ts';
import type { Access } from '../../server/access.ts';
import { searchRecords } from '../../server/search/search.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { indexAll } from '../support/index-all.ts';
import { insertReadOnly, insertTranscribed } from '../support/read-only.ts';
import { type Client, clientOf, expectError, expectFault } from '../support/v2.ts';

let harness: Harness;
let api: Client;
beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

const search = (q: string, query = '', client = api): Promise<Json[]> =>
  client.list(`/search?q=${encodeURIComponent(q)}${query}`);
/** Tier and ID of what is found, in order. */
const found = async (q: string, query = '', client = api): Promise<[tier: string, id: string][]> =>
  (await search(q, query, client)).map(({ match, record_id }) => [match.tier, record_id]);
const updateIndex = () => indexAll(harness);
const pendingRows = async (): Promise<number> =>
  (await harness.store.read.selectFrom('search_pending').select('id').execute()).length;

test('a record is found right after its write, before and after it is indexed', async () => {
  const ada = await api.create('contacts', {
    first_name: 'Ada',
    last_name: 'Lovelace',
    email: 'ada@engines.example',
  });
  const item = {
    record_type: 'contacts',
    record_id: ada.id,
    match: { tier: 'name', field: 'first_name', snippet: 'Ada' },
    record: ada,
  };
  expect(await search('ada lov')).toEqual([item]);
  expect(await pendingRows()).toBeGreaterThan(0);
  await updateIndex();
  expect(await pendingRows()).toBe(0);
  expect(await search('ada lov')).toEqual([item]);
  expect(await search('Lovelace ADA')).toHaveLength(1);
  expect(await search('lov ada')).toEqual([]);
});

test('while much is not indexed, a page is empty and has a next one, which finds all of it', async () => {
  const many = Array.from({ length: 100 }, () => ({ first_name: 'Myriad' }));
  for (let batch = 0; batch < 3; batch++) await api.batch('/contacts/batch', many);
  const read = queryOf('myriad');
  if ('faults' in read) throw new Error('no query');
  const access: Access = {
    ...{ orgNumber: harness.orgNumber, organizationId: null, userId: null, level: 'organization' },
    ...{ keyId: '', keyNumber: 0, scopes: new Set(), bodyBytesMax: null },
    requestsPerMinute: { key: null, organization: null },
  };
  const request = { query: read.query, resources: [getResource('contacts')], limit: 2 };
  let updates = 0;
  const searcher = {
    db: harness.store.read,
    access,
    updateIndex: async () => {
      updates += 1;
    },
  };
  const first = await searchRecords(searcher, { ...request, after: null });
  expect(first).toMatchObject({ items: [], next: { tier: 'identifier' } });
  const second = await searchRecords(searcher, { ...request, after: first.next });
  expect(second).toEqual(first);
  expect(updates).toBe(10);
  const third = await searchRecords({ ...searcher, updateIndex }, { ...request, after: second.next });
  expect(third.items).toHaveLength(2);
  expect(await found('myriad', '&limit=100')).toHaveLength(100);
});

for (const isIndexed of [false, true])
  describe(isIndexed ? 'from the index' : 'from what is not indexed yet', () => {
    const settle = () => (isIndexed ? updateIndex() : undefined);

    test('an update and a delete change what is found', async () => {
      const [before, after] = isIndexed ? ['quartz', 'basalt'] : ['schist', 'gneiss'];
      const { id } = await api.create('companies', { name: `${before} Works`, industry: 'mining' });
      await settle();
      expect(await found(before)).toEqual([['name', id]]);
      expect(await found(`mining ${before}`)).toEqual([['text', id]]);
      await api.update('companies', id, { name: `${after} Works` });
      await settle();
      expect(await found(before)).toEqual([]);
      expect(await found(after)).toEqual([['name', id]]);
      await api.del(`/companies/${id}`);
      await settle();
      expect(await found(after)).toEqual([]);
      await api.post(`/companies/${id}/undelete`, {});
      await settle();
      expect(await found(after)).toEqual([['name', id]]);
    });

    test('tiers come one after the other, in each the newest first', async () => {
      const word = isIndexed ? 'zephyr' : 'mistral';
      const note = await api.create('notes', { title: 'Wind', content: `The ${word} blows` });
      const company = await api.create('companies', { name: `${word} Ltd`, domain: `${word}.example` });
      const contact = await api.create('contacts', { email: `office@${word}.example` });
      const task = await api.create('tasks', { name: `Call ${word}` });
      const deal = await api.create('deals', { name: 'Sails', custom: { kind: `${word} wind` } });
      await settle();
      expect(await found(word)).toEqual([
        ['name', task.id],
        ['name', contact.id],
        ['name', company.id],
        ['text', deal.id],
        ['text', note.id],
      ]);
      expect(await found(`${word}.example`)).toEqual([
        ['identifier', company.id],
        ['name', contact.id],
      ]);
      expect(await found(`OFFICE@${word}.example`)).toEqual([['identifier', contact.id]]);
      expect(await found(task.id)).toEqual([['identifier', task.id]]);
      expect(await found(word, '&types=notes&types=tasks')).toEqual([
        ['name', task.id],
        ['text', note.id],
      ]);
      expect((await search(`${word} wind`)).map(({ match }) => match)).toEqual([
        { tier: 'text', field: 'custom.kind', snippet: `${word} wind` },
        { tier: 'text', field: 'title', snippet: 'Wind' },
      ]);
    });

    test('telephone numbers, transcripts and IDs of other systems are found', async () => {
      const digits = isIndexed ? '442079460000' : '442079461111';
      const spaced = digits.replace(/^(44)(20)(\d{4})(\d{4})$/, '+$1 $2 $3 $4');
      const contact = await api.create('contacts', { phone: spaced });
      const recording = await insertTranscribed(harness, { title: `Call ${digits}` });
      const source = { source: 'salesforce', id: `003H${digits}` };
      await api.post(`/contacts/${contact.id}/external_ids`, source);
      const meeting = await insertReadOnly(harness, 'meetings', { external_id: `m-${digits}` });
      await settle();
      for (const q of [spaced, digits])
        expect(await found(q, '&types=contacts')).toEqual([['identifier', contact.id]]);
      for (const q of [digits.slice(-10), digits.slice(-7), digits.slice(-4), digits.slice(-10, -3)])
        expect(await found(q, '&types=contacts')).toEqual([['text', contact.id]]);
      expect(await found(digits.slice(-6), '&types=contacts')).toEqual([]);
      expect(await found(`003H${digits}`)).toEqual([['identifier', contact.id]]);
      expect(await found(`salesforce:003H${digits}`)).toEqual([['identifier', contact.id]]);
      expect(await found(`hubspot:003H${digits}`)).toEqual([]);
      expect(await found(`m-${digits}`)).toEqual([['identifier', meeting]]);
      const [first] = await search('good morning ada', '&types=recordings');
      expect(first).toMatchObject({ record_id: recording, match: { tier: 'text', field: 'transcript' } });
    });
  });

test('what is not a search is refused with the parameter', async () => {
  expectFault(await api.get('/search'), 'VALIDATION_REQUIRED_FIELD', 'q');
  expectFault(await api.get('/search?q=...'), 'VALIDATION_INVALID_FORMAT', 'q');
  expectFault(await api.get('/search?q=a&types=pipelines'), 'VALIDATION_FAILED', 'types');
  expectFault(await api.get('/search?q=a&limit=101'), 'VALIDATION_OUT_OF_RANGE', 'limit');
  expectFault(await api.get('/search?q=a&cursor=x'), 'VALIDATION_INVALID_FORMAT', 'cursor');
  expectFault(await api.get('/search?q=1+2+3+4+5+6+7+8+9+10+11'), 'VALIDATION_OUT_OF_RANGE', 'q');
});

test('a key searches what it can read, as far as it sees it', async () => {
  const mine = await api.create('companies', { name: 'Granite One' });
  const note = await api.create('notes', { title: 'Granite two' });
  const companies = await api.withKey({ scopes: ['companies:read'] });
  expect(await found('granite', '', companies)).toEqual([['name', mine.id]]);
  expectError(await companies.get('/search?q=granite&types=notes'), 403, 'AUTH_INSUFFICIENT_SCOPE');
  const none = await api.withKey({ scopes: ['pipelines:read'] });
  expectError(await none.get('/search?q=granite'), 403, 'AUTH_INSUFFICIENT_SCOPE');
  expect(await found('granite')).toEqual([
    ['name', note.id],
    ['name', mine.id],
  ]);
});
