// `include`: what a response has besides its records, checked against what lists and links say, for all who may ask.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { listUsers } from '../../db/accounts/accounts.ts';
import { V2_SCOPES } from '../../db/model/resources/registry.ts';
import { expectIncluded } from '../support/expect-included.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { INCLUDES, listEverything, relateByChance } from '../support/related-records.ts';
import { ABSENT, type Client, clientOf, expectError, expectFault, expectMissing } from '../support/v2.ts';

let harness: Harness;
let api: Client;
let ofAlice: Client;
let users: Json[];

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
  ofAlice = await api.withKey({ userId: harness.alice });
  await relateByChance(harness, api);
  const found = await listUsers(harness.store.read, harness.orgNumber);
  users = found.map(({ id, email, name }) => ({ id, email, name }));
}, 300_000);
afterAll(() => harness.close());

const queryOf = (names: readonly string[]) => names.map((name) => `include=${name}`).join('&');

/** At most five names at a time, each of them once. */
function groupsOf(resource: string): string[][] {
  const names = Object.keys(INCLUDES[resource] ?? {});
  return [names.slice(0, 5), names.slice(-5)];
}

describe.each(Object.keys(INCLUDES))('with %s', (resource) => {
  for (const [who, client] of [
    ['a key of the organization', () => api],
    ["a user's key", () => ofAlice],
  ] as const) {
    test(`${who} gets what it could list, the ten newest of each, and each once`, async () => {
      const listed = await listEverything(client(), users);
      const records = listed.records[resource] ?? [];
      expect(records.length).toBeGreaterThan(0);
      for (const names of groupsOf(resource)) {
        const list = await client().get(`/${resource}?limit=200&${queryOf(names)}`);
        expect(list.status).toBe(200);
        expect(expectIncluded(listed, resource, names, list.body)).toEqual(records);
        for (const { id } of records.slice(0, 3)) {
          const one = await client().get(`/${resource}/${id}?${queryOf(names)}`);
          const plain = await client().fetch(resource, id);
          expect(expectIncluded(listed, resource, names, one.body)).toEqual([plain]);
        }
      }
    });
  }

  test('an unknown name is refused with the known ones, and no more than five may be sent', async () => {
    const names = Object.keys(INCLUDES[resource] ?? {});
    const [{ id }] = (await api.list(`/${resource}?limit=1`)) as [Json];
    for (const path of [`/${resource}`, `/${resource}/${id}`]) {
      const unknown = await api.get(`${path}?include=supervisors`);
      expectFault(unknown, 'VALIDATION_FAILED', 'include');
      for (const name of names) expect(unknown.body.error.message).toContain(name);
      expectFault(await api.get(`${path}?include=`), 'VALIDATION_FAILED', 'include');
      const six = Array.from({ length: 6 }, () => names[0] ?? '');
      expectFault(await api.get(`${path}?${queryOf(six)}`), 'VALIDATION_OUT_OF_RANGE', 'include');
      expect((await api.get(`${path}?${queryOf(six.slice(1))}`)).status).toBe(200);
    }
  });

  test('what the key may not read at all is refused, and nothing else', async () => {
    const [{ id }] = (await api.list(`/${resource}?limit=1`)) as [Json];
    for (const [name, [group]] of Object.entries(INCLUDES[resource] ?? {})) {
      const scope = `${group === 'stages' ? 'pipelines' : group}:read`;
      const without = await api.withKey({ scopes: V2_SCOPES.filter((one) => one !== scope) });
      const alone = await api.withKey({
        scopes: [`${resource}:read`, ...(group === 'users' ? [] : [scope])],
      });
      for (const path of [`/${resource}`, `/${resource}/${id}`]) {
        const whole = `${path}?include=${name}`;
        expect((await alone.get(whole)).status).toBe(200);
        if (group === 'users') continue;
        const refused = await without.get(whole);
        expectError(refused, 403, 'AUTH_INSUFFICIENT_SCOPE');
        expect(refused.body.error.message).toContain(scope);
      }
    }
  });
});

test('nothing is included unless it is asked for', async () => {
  const { body } = await api.get('/contacts');
  expect(Object.keys(body)).toEqual(['object', 'data', 'page_info', 'meta']);
  expect(body.data.every((record: Json) => !('included_ids' in record))).toBe(true);
});

test('groups are there when nothing is in them', async () => {
  const { id } = await api.create('contacts', { first_name: 'Alone' });
  const { body } = await api.get(`/contacts/${id}?include=company&include=owner&include=deals`);
  expect(body.included).toEqual({ companies: {}, users: {}, deals: {} });
  expect(body.data.included_ids).toEqual({ company: [], owner: [], deals: [] });
  const none = await api.get('/companies?domain=absent.example&include=deals');
  expect([none.body.data, none.body.included]).toEqual([[], { deals: {} }]);
});

test('a record that is absent, hidden or of another organization is a 404, whatever it should include', async () => {
  const { id } = await api.create('contacts', { first_name: 'Hidden', owner_id: harness.bob });
  const { key } = await harness.issue({ orgNumber: harness.otherOrgNumber });
  for (const [client, one] of [
    [api, ABSENT],
    [ofAlice, id],
    [clientOf(harness, key), id],
  ] as const)
    expectMissing(await client.get(`/contacts/${one}?include=owner`));
});

test('a get with include has no ETag, and is answered whatever version the client has', async () => {
  const { id } = await api.create('contacts', { first_name: 'Ada' });
  const { headers } = await api.get(`/contacts/${id}`);
  const etag = headers.get('ETag') ?? '';
  const get = (query: string) =>
    harness.send('GET', `/api/v2/contacts/${id}${query}`, { headers: { 'If-None-Match': etag } });
  expect((await get('')).status).toBe(304);
  const included = await get('?include=owner');
  expect([included.status, included.headers.get('ETag')]).toEqual([200, null]);
});

test('a recording has its transcript link in a get with include', async () => {
  const [{ id }] = (await api.list('/recordings?limit=1')) as [Json];
  const { body } = await api.get(`/recordings/${id}?include=owner`);
  expect(Object.keys(body.data)).toContain('transcript_url');
  expect(Object.keys(body.data.included_ids)).toEqual(['owner']);
});

test('pages differ in what they include, and a cursor is good for any of it', async () => {
  const first = await api.get('/deals?limit=10&include=stage&fields=name');
  const cursor = `cursor=${first.body.page_info.end_cursor}`;
  const listed = await listEverything(api, users);
  const rest = await api.get(`/deals?limit=10&include=contacts&${cursor}`);
  expect(expectIncluded(listed, 'deals', ['contacts'], rest.body)).toEqual(
    (listed.records.deals ?? []).slice(10, 20),
  );
  expect(await api.ids(`/deals?limit=10&${cursor}`)).toEqual(rest.body.data.map(({ id }: Json) => id));
  expectFault(await api.get(`/deals?status=open&${cursor}`), 'VALIDATION_INVALID_FORMAT', 'cursor');
});
