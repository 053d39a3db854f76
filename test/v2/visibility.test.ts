// What answers show to keys that may not read everything: links, conflicts, and references sent back.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { COLLECTIONS, makeParent, titleOf } from '../support/collections.ts';
import { BASE_URL, type Harness, type Json, startHarness } from '../support/harness.ts';
import { insertReadOnly } from '../support/read-only.ts';
import { type Client, clientOf, expectError, uniqueEmail } from '../support/v2.ts';

let harness: Harness;
let api: Client;
let alice: Client;

const withScopes = (...scopes: string[]): Promise<Client> => api.withKey({ scopes });

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
  alice = await api.withKey({ userId: harness.alice });
});
afterAll(() => harness.close());

describe('a link made by a key that may not read the child', () => {
  for (const collection of COLLECTIONS) {
    const { parent, child, body } = collection;
    test(`${titleOf(collection)}: shows the link alone`, async () => {
      const writer = await withScopes(`${parent}:write`);
      const path = await makeParent(api, collection);
      const record = await api.create(child);
      const { status, body: answer } = await writer.post(path, body(record.id));
      expect(status).toBe(200);
      const own = ['id', 'linked_at', 'supervisor', 'record_type', 'record_id'];
      expect(Object.keys(answer.data).filter((name) => !own.includes(name))).toEqual([]);
      expect(answer.data.id ?? answer.data.record_id).toBe(record.id);
      expect(answer.data.linked_at).toEqual(expect.any(String));
    });
  }

  for (const [name, resource] of [
    ['deal', 'deals'],
    ['company', 'companies'],
  ] as const) {
    test(`meetings/${name}: shows the id alone`, async () => {
      const writer = await withScopes('meetings:write');
      const meeting = await insertReadOnly(harness, 'meetings');
      const record = await api.create(resource);
      const reply = await writer.put(`/meetings/${meeting}/${name}`, { [`${name}_id`]: record.id });
      expect([reply.status, reply.body.data]).toEqual([200, { id: record.id }]);
    });
  }
});

describe('a conflict points to the record that is in the way', () => {
  const CASES: [resource: string, body: () => Json, path: string][] = [
    ['contacts', () => ({ email: uniqueEmail() }), 'email'],
    ['companies', () => ({ domain: `${uniqueEmail().split('@')[0]}.example` }), 'domain'],
  ];
  for (const [resource, make, path] of CASES) {
    test(`${resource}: for a key that may read it, in details and in batch items too`, async () => {
      const body = make();
      const { id } = await api.create(resource, body);
      const reply = await api.post(`/${resource}`, body);
      expectError(reply, 409, 'RESOURCE_CONFLICT', path);
      expect(reply.headers.get('Location')).toBe(`${BASE_URL}/api/v2/${resource}/${id}`);
      expect(reply.body.error.details[0].existing_id).toBe(id);
      const batch = await api.post(`/${resource}/batch`, [body]);
      expect(batch.body.data.items[0].error.details[0]).toMatchObject({ path, existing_id: id });
      const other = await api.create(resource, make());
      const patch = await api.patch(`/${resource}/${other.id}`, body);
      expect(patch.body.error.details[0].existing_id).toBe(id);
    });

    test(`${resource}: not for a key without its read scope`, async () => {
      const body = make();
      await api.create(resource, body);
      const writer = await withScopes(`${resource}:write`);
      const reply = await writer.post(`/${resource}`, body);
      expectError(reply, 409, 'RESOURCE_CONFLICT', path);
      expect(reply.headers.get('Location')).toBeNull();
      expect(reply.body.error.details[0].existing_id).toBeUndefined();
      const batch = await writer.post(`/${resource}/batch`, [body]);
      expect(batch.body.data.items[0].error.details[0].existing_id).toBeUndefined();
    });

    test(`${resource}: not for a user whose record it is not`, async () => {
      const body = make();
      await api.create(resource, body);
      const reply = await alice.post(`/${resource}`, body);
      expectError(reply, 409, 'RESOURCE_CONFLICT', path);
      expect(reply.headers.get('Location')).toBeNull();
      expect(reply.body.error.details[0].existing_id).toBeUndefined();
    });
  }
});

describe('a reference that a PATCH sends back unchanged', () => {
  test('is accepted though its record is hidden', async () => {
    const company = await api.create('companies');
    const task = await api.create('tasks', {
      name: 'Call',
      company_id: company.id,
      main_assignee_id: harness.alice,
    });
    const changed = await alice.patch(`/tasks/${task.id}`, { company_id: company.id, name: 'Call again' });
    expect([changed.status, changed.body.data?.name]).toEqual([200, 'Call again']);
    const other = await api.create('companies');
    const refused = await alice.patch(`/tasks/${task.id}`, { company_id: other.id });
    expectError(refused, 422, 'VALIDATION_FAILED', 'company_id');
  });

  test('of a deal too: point of contact, pipeline and stage', async () => {
    const [company, contact] = [await api.create('companies'), await api.create('contacts')];
    const deal = await api.create('deals', {
      name: 'Unit',
      company_id: company.id,
      point_of_contact_id: contact.id,
      owner_id: harness.alice,
    });
    const { company_id, point_of_contact_id, pipeline_id, stage_id } = deal;
    const same = { company_id, point_of_contact_id, pipeline_id, stage_id };
    const reply = await alice.patch(`/deals/${deal.id}`, { ...same, name: 'Units' });
    expect([reply.status, reply.body.data?.name]).toEqual([200, 'Units']);
  });

  test('of a note: a parent that another user wrote', async () => {
    const parent = await api.create('notes', { title: 'Parent' });
    const own = await alice.create('notes', { title: 'Child' });
    const { id } = await api.update('notes', own.id, { parent_id: parent.id });
    const reply = await alice.patch(`/notes/${id}`, { parent_id: parent.id, title: 'Still a child' });
    expect(reply.status).toBe(200);
  });
});
