// The endpoints of v2: every path answers its methods under its scopes, every other method is a 405, every other path a 404.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { V2_SCOPES } from '../../db/model/resources/registry.ts';
import { CHANGEABLE, CONTRACT } from '../support/contract.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { type Client, clientOf, expectError, expectMissing } from '../support/v2.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Method → the scopes that it needs, all of them. */
type Row = Record<string, string[]>;

const LINKS: Record<string, Record<string, string[]>> = {
  'deals/{id}/contacts': { read: ['deals:read', 'contacts:read'] },
  'deals/{id}/companies': { read: ['deals:read', 'companies:read'] },
  'notes/{id}/records': { read: ['notes:read'] },
  'segments/{id}/members': { read: ['segments:read'] },
};

function tableOfEndpoints(): Record<string, Row> {
  const table: Record<string, Row> = {};
  for (const [name, { verbs }] of Object.entries(CONTRACT)) {
    const write = [`${name}:write`];
    const rows: [string, string, string, string[]][] = [
      ['list', name, 'GET', [`${name}:read`]],
      ['create', name, 'POST', write],
      ['get', `${name}/{id}`, 'GET', [`${name}:read`]],
      ['update', `${name}/{id}`, 'PATCH', write],
      ['delete', `${name}/{id}`, 'DELETE', [`${name}:delete`]],
      ['batch', `${name}/batch`, 'POST', write],
      ['get', `${name}/batch/get`, 'POST', [`${name}:read`]],
      ['update', `${name}/batch/update`, 'POST', write],
      ['update', `${name}/batch/upsert`, 'POST', write],
      // A record can have this ID too.
      ['update', `${name}/upsert`, 'POST', write],
      ['update', `${name}/upsert`, 'GET', [`${name}:read`]],
      ['update', `${name}/upsert`, 'PATCH', write],
      ['update', `${name}/upsert`, 'DELETE', [`${name}:delete`]],
      ...['query', 'count'].flatMap((lookup): [string, string, string, string[]][] => [
        ['get', `${name}/${lookup}`, 'POST', [`${name}:read`]],
        ['get', `${name}/${lookup}`, 'GET', [`${name}:read`]],
        ['update', `${name}/${lookup}`, 'PATCH', write],
        ['delete', `${name}/${lookup}`, 'DELETE', [`${name}:delete`]],
      ]),
      ['delete', `${name}/batch/delete`, 'POST', [`${name}:delete`]],
    ];
    for (const [verb, path, method, scopes] of rows)
      if (verbs.includes(verb)) table[path] = { ...table[path], [method]: scopes };
  }
  for (const [path, { read = [] }] of Object.entries(LINKS)) {
    const write = [`${path.split('/')[0]}:write`];
    table[path] = { GET: read, POST: write };
    table[`${path}/{child_id}`] = { DELETE: write };
  }
  for (const name of CHANGEABLE) {
    const path = `${name}/{id}/external_ids`;
    const write = [`${name}:write`];
    table[path] = { GET: [`${name}:read`], POST: write };
    table[`${path}/{source}`] = { DELETE: write };
  }
  // What scopes they need depends on what is asked for.
  Object.assign(table, {
    links: { GET: [] },
    'links/batch': { POST: [] },
    'links/batch/delete': { POST: [] },
  });
  const [reading, writing] = [['webhooks:read'], ['webhooks:write']];
  Object.assign(table, {
    webhooks: { GET: reading, POST: writing },
    'webhooks/{id}': { GET: reading, PATCH: writing, DELETE: writing },
    'webhooks/{id}/ping': { POST: writing },
    'webhooks/{id}/rotate': { POST: writing },
    'webhooks/{id}/replay': { POST: writing },
    'webhooks/{id}/deliveries': { GET: reading },
  });
  for (const [name, child] of [
    ['deal', 'deals'],
    ['company', 'companies'],
  ]) {
    const write = ['meetings:write'];
    table[`meetings/{id}/${name}`] = { GET: ['meetings:read', `${child}:read`], PUT: write, DELETE: write };
  }
  return table;
}

const TABLE = tableOfEndpoints();
const concrete = (path: string) => path.replaceAll(/\{\w+\}/g, 'absent');

let harness: Harness;
let api: Client;
const keys = new Map<string, string>();

/** A key with just these scopes. */
async function keyWith(scopes: readonly string[]): Promise<string> {
  const name = [...scopes].sort().join();
  const key = keys.get(name) ?? (await harness.issue({ scopes })).key;
  keys.set(name, key);
  return key;
}

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

test('there are 29 scopes', () => {
  const of = (name: string, ...actions: string[]) => actions.map((action) => `${name}:${action}`);
  const full = ['contacts', 'companies', 'deals', 'pipelines', 'tasks', 'notes', 'segments'];
  const scopes = [
    ...full.flatMap((name) => of(name, 'read', 'write', 'delete')),
    ...of('interactions', 'read', 'write'),
    ...of('meetings', 'read', 'write'),
    ...of('recordings', 'read'),
    ...of('bookings', 'read'),
    ...of('webhooks', 'read', 'write'),
  ];
  expect([...V2_SCOPES].sort()).toEqual(scopes.sort());
  expect(scopes).toHaveLength(29);
});

for (const [path, row] of Object.entries(TABLE)) {
  describe(`/${path}`, () => {
    const url = `/api/v2/${concrete(path)}`;
    for (const method of METHODS) {
      const scopes = row[method];
      if (scopes === undefined) {
        test(`${method} is a 405 that says what is allowed`, async () => {
          const reply = await harness.send(method, url, { body: method === 'GET' ? undefined : {} });
          expectError(reply, 405, 'OPERATION_FORBIDDEN');
          const allowed = Object.keys(row).flatMap((one) => (one === 'GET' ? ['GET', 'HEAD'] : [one]));
          expect(reply.headers.get('Allow')?.split(', ').sort()).toEqual(allowed.sort());
        });
        continue;
      }
      const send = async (granted: readonly string[]) =>
        harness.send(method, url, {
          key: await keyWith(granted),
          ...(method === 'GET' || method === 'DELETE' ? {} : { raw: path.includes('/batch') ? '[]' : '{}' }),
        });
      test(`${method} needs ${scopes.join(' and ')} and no other scope`, async () => {
        for (const missing of scopes) {
          const reply = await send(V2_SCOPES.filter((scope) => scope !== missing));
          expectError(reply, 403, 'AUTH_INSUFFICIENT_SCOPE');
          expect(reply.body.error.message).toContain(missing);
        }
        const status = (await send(scopes)).status;
        expect([200, 404, 422]).toContain(status);
      });
      test(`${method} needs a key`, async () => {
        expectError(await harness.send(method, url, { key: null }), 401, 'AUTH_MISSING_CREDENTIALS');
        // From an address of its own: wrong keys are counted per address.
        const foreign = { key: harness.v1, headers: { 'X-Test-Address': path } };
        expectError(await harness.send(method, url, foreign), 401, 'AUTH_INVALID_API_KEY');
      });
      if (path.includes('{id}') && method !== 'POST' && method !== 'PUT') {
        test(`${method} of what is absent is a 404`, async () => {
          const reply = await harness.send(method, url, method === 'PATCH' ? { body: {} } : {});
          expectMissing(reply);
        });
      }
    }
    test('a trailing slash is another path', async () => {
      expectMissing(await api.get(`/${concrete(path)}/`));
    });
  });
}

test('no other path is known', async () => {
  for (const path of [
    '',
    '/',
    '/people',
    '/users',
    '/contacts/1/companies',
    '/meetings/1/deal/2',
    '/Contacts',
  ])
    expectMissing(await api.get(path));
  expectMissing(await api.get('//contacts'));
});

test('a percent-encoded letter makes another path, and another ID', async () => {
  const { id } = await api.create('contacts');
  const deal = await api.create('deals', { name: 'D' });
  await api.post(`/deals/${deal.id}/contacts`, { contact_id: id });
  const encoded = (text: string) => `%${text.charCodeAt(0).toString(16)}${text.slice(1)}`;
  for (const path of [
    `/${encoded('contacts')}/${id}`,
    `/contacts/${encoded(id)}`,
    `/deals/${encoded(deal.id)}/contacts`,
    '/contacts/%zz',
  ])
    expectMissing(await api.get(path));
  expectMissing(await api.del(`/deals/${deal.id}/contacts/${encoded(id)}`));
  expectMissing(await api.del(`/contacts/${encoded(id)}`));
  expect((await api.get(`/deals/${deal.id}/contacts`)).body.data).toHaveLength(1);
});

test('query parameters on anything but a list are refused', async () => {
  const contact = await api.create('contacts');
  for (const path of [`/contacts/${contact.id}`, '/deals/absent', '/meetings/absent/deal'])
    expectError(await api.get(`${path}?limit=1`), 422, 'VALIDATION_FAILED', 'limit');
  expectError(await api.post('/contacts?x=1', { first_name: 'A' }), 422, 'VALIDATION_FAILED', 'x');
  expectError(await api.post('/contacts/batch?x=1', []), 422, 'VALIDATION_FAILED', 'x');
  expectError(await api.del(`/contacts/${contact.id}?x=1`), 422, 'VALIDATION_FAILED', 'x');
});

test('HEAD answers as GET, without a body', async () => {
  const { id } = await api.create('contacts');
  for (const path of ['/contacts', `/contacts/${id}`, '/contacts/absent']) {
    const head = await harness.send('HEAD', `/api/v2${path}`);
    const get = await api.get(path);
    expect({ status: head.status, type: head.headers.get('Content-Type'), text: head.text }).toEqual({
      status: get.status,
      type: get.headers.get('Content-Type'),
      text: '',
    });
  }
});

describe("a child's scope", () => {
  const keyFor = async (...scopes: string[]) => clientOf(harness, await keyWith(scopes));

  test('of deals/contacts and deals/companies is checked before the deal is looked for', async () => {
    const reader = await keyFor('deals:read');
    for (const name of ['contacts', 'companies'])
      expectError(await reader.get(`/deals/absent/${name}`), 403, 'AUTH_INSUFFICIENT_SCOPE');
  });

  test('of segments/members is that of its type, checked once the segment is found', async () => {
    const people = await api.create('segments', { name: 'P' });
    const firms = await api.create('segments', { name: 'F', record_type: 'company' });
    const reader = await keyFor('segments:read');
    expectMissing(await reader.get('/segments/absent/members'));
    for (const { id } of [people, firms])
      expectError(await reader.get(`/segments/${id}/members`), 403, 'AUTH_INSUFFICIENT_SCOPE');
    const contacts = await keyFor('segments:read', 'contacts:read');
    expect(await contacts.list(`/segments/${people.id}/members`)).toEqual([]);
    const refused = await contacts.get(`/segments/${firms.id}/members`);
    expectError(refused, 403, 'AUTH_INSUFFICIENT_SCOPE');
    expect(refused.body.error.message).toContain('companies:read');
    const user = await harness.issue({ userId: harness.alice, scopes: ['segments:read'] });
    expectMissing(await clientOf(harness, user.key).get(`/segments/${people.id}/members`));
  });

  test('of notes/records is not needed, nor is any to link and unlink', async () => {
    const [contact, note] = [await api.create('contacts'), await api.create('notes')];
    const path = `/notes/${note.id}/records`;
    const writer = await keyFor('notes:write');
    const body = { record_type: 'contact', record_id: contact.id };
    expect((await writer.post(path, body)).status).toBe(200);
    expect(await (await keyFor('notes:read')).list(path)).toHaveLength(1);
    expect((await writer.del(`${path}/${contact.id}`)).status).toBe(204);
    const segment = await api.create('segments');
    const members = await keyFor('segments:write');
    const linked = await members.post(`/segments/${segment.id}/members`, { record_id: contact.id });
    expect(linked.status).toBe(200);
  });
});
