// Each resource of v2 has the fields, filters and endpoints of the contract, and the life of a record that it promises.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import {
  CHANGEABLE,
  COMMON_FIELDS,
  CONTRACT,
  type Contract,
  CREATABLE,
  listParametersOf,
} from '../support/contract.ts';
import { BASE_URL, type Harness, startHarness } from '../support/harness.ts';
import { insertReadOnly, insertTranscribed } from '../support/read-only.ts';
import {
  type Client,
  clientOf,
  expectError,
  expectFault,
  expectMissing,
  minimalBody,
} from '../support/v2.ts';

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

let harness: Harness;
let api: Client;
let other: Client;

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
  other = await api.withKey({ orgNumber: harness.otherOrgNumber });
});
afterAll(() => harness.close());

/** One record of the resource, through the interface where it has a create. */
async function makeRecord(resource: string): Promise<string> {
  if (CREATABLE.includes(resource)) return (await api.create(resource)).id;
  return resource === 'recordings' ? insertTranscribed(harness) : insertReadOnly(harness, resource);
}

test('the resources are those of the contract', () => {
  expect(RESOURCES.map((resource) => resource.name).sort()).toEqual(Object.keys(CONTRACT).sort());
});

for (const resource of Object.keys(CONTRACT)) {
  const { writable, readOnly, inputs = [], filters } = CONTRACT[resource] as Contract;
  describe(resource, () => {
    test('a record carries every field of the contract, and get and list agree', async () => {
      const id = await makeRecord(resource);
      const record = await api.fetch(resource, id);
      const shown = [...COMMON_FIELDS, ...writable, ...readOnly].filter((name) => !inputs.includes(name));
      expect(Object.keys(record).sort()).toEqual(expect.arrayContaining(shown.sort()));
      for (const name of inputs) expect(record).not.toHaveProperty(name);
      expect(Object.values(record)).not.toContain(undefined);
      const [listed] = await api.list(`/${resource}?limit=1`);
      expect(listed).toEqual(resource === 'recordings' ? { ...record, transcript_url: null } : record);
    });

    test('id, timestamps and creator have their formats', async () => {
      const { id, created_at, updated_at, created_by } = await api.fetch(
        resource,
        await makeRecord(resource),
      );
      expect(id).toMatch(UUID_V7);
      expect(created_at).toBe(new Date(harness.clock.now).toISOString());
      expect(created_at).toMatch(TIMESTAMP);
      expect(updated_at).toBe(created_at);
      expect(typeof created_by).toBe('string');
    });

    test('a list refuses parameters that it does not have, naming those it has', async () => {
      const reply = await api.get(`/${resource}?nonsense=1`);
      expectFault(reply, 'VALIDATION_FAILED', 'nonsense');
      for (const name of [...listParametersOf(resource), ...filters])
        expect(reply.body.error.message).toContain(name);
    });

    test('ids of any other shape, and ids of another organization, are not found', async () => {
      const id = await makeRecord(resource);
      for (const odd of ['1', 'x'.repeat(2_000), '%00', '%F0%9F%98%80', '..%2F..', id.toUpperCase(), 'null'])
        expectMissing(await api.get(`/${resource}/${odd}`));
      const hidden = await other.get(`/${resource}/${id}`);
      expectMissing(hidden);
      expect(hidden.text).not.toContain(id);
      expect(await other.ids(`/${resource}`)).not.toContain(id);
    });
  });
}

for (const resource of CREATABLE) {
  describe(`creating ${resource}`, () => {
    test('answers 201 with the record, its absolute Location and the fields null where unset', async () => {
      const reply = await api.post(`/${resource}`, minimalBody(resource));
      expect(reply.status).toBe(201);
      expect(reply.body.object).toBe('success');
      const { data, meta } = reply.body;
      expect(reply.headers.get('Location')).toBe(`${BASE_URL}/api/v2/${resource}/${data.id}`);
      expect(meta).toEqual({
        request_id: reply.headers.get('X-Request-Id'),
        api_version: '2',
        timestamp: new Date(harness.clock.now).toISOString(),
      });
      const { is_duplicate: _, ...record } = data;
      expect(await api.fetch(resource, data.id)).toEqual(record);
    });

    test('says which required fields are missing', async () => {
      const { required } = CONTRACT[resource] as Contract;
      for (const name of required) {
        const { [name]: _, ...rest } = minimalBody(resource);
        expectFault(await api.post(`/${resource}`, rest), 'VALIDATION_REQUIRED_FIELD', name);
        expectFault(await api.post(`/${resource}`, { ...rest, [name]: null }), 'VALIDATION_FAILED', name);
      }
    });

    test('refuses what is no object', async () => {
      for (const body of [[], 'text', 5, true, null]) {
        const reply = await api.post(`/${resource}`, body);
        expectFault(reply, 'VALIDATION_FAILED', '');
      }
    });

    test('refuses properties that it does not know, all of them with their paths', async () => {
      const body = { ...minimalBody(resource), nonsense: 1, firstName: 'x' };
      expectError(await api.post(`/${resource}`, body), 422, 'VALIDATION_FAILED', 'nonsense', 'firstName');
    });
  });
}

for (const resource of CHANGEABLE) {
  describe(`changing and deleting ${resource}`, () => {
    const [field] = Object.keys(minimalBody(resource));
    test('changes the fields that are present and no others', async () => {
      const before = await api.create(resource);
      harness.clock.now += 1_500;
      const after = await api.update(resource, before.id, { [String(field)]: 'Other' });
      const updated_at = new Date(harness.clock.now).toISOString();
      expect(after).toEqual({ ...before, [String(field)]: 'Other', updated_at });
      expect(await api.fetch(resource, before.id)).toEqual(after);
    });

    test('an empty change changes nothing', async () => {
      const before = await api.create(resource);
      harness.clock.now += 1_000;
      expect(await api.update(resource, before.id, {})).toEqual(before);
      expect(await api.fetch(resource, before.id)).toEqual(before);
    });

    test('a deleted record is gone for every method', async () => {
      const { id } = await api.create(resource);
      const gone = await api.del(`/${resource}/${id}`);
      expect({ status: gone.status, text: gone.text }).toEqual({ status: 204, text: '' });
      expectMissing(await api.get(`/${resource}/${id}`));
      expectMissing(await api.patch(`/${resource}/${id}`, { [String(field)]: 'Other' }));
      expectMissing(await api.del(`/${resource}/${id}`));
      expect(await api.ids(`/${resource}`)).not.toContain(id);
    });

    test('the record of another organization can neither be changed nor deleted', async () => {
      const before = await api.create(resource);
      expectMissing(await other.patch(`/${resource}/${before.id}`, { [String(field)]: 'Other' }));
      expectMissing(await other.del(`/${resource}/${before.id}`));
      expect(await api.fetch(resource, before.id)).toEqual(before);
    });

    test('a fault in the body is reported before the record is looked for', async () => {
      const reply = await api.patch(`/${resource}/absent`, { nonsense: 1 });
      expectFault(reply, 'VALIDATION_FAILED', 'nonsense');
    });
  });
}
