// Access level `user`: whose a new record is, what cannot be given away, and what conflicts do not tell.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { CREATABLE } from '../support/contract.ts';
import { BASE_URL, type Harness, type Json, startHarness } from '../support/harness.ts';
import {
  type Client,
  clientOf,
  expectError,
  expectFault,
  expectMissing,
  minimalBody,
  uniqueEmail,
  wordsOf,
} from '../support/v2.ts';

let harness: Harness;
let org: Client;
let orgKeyId: string;
let alice: Client;
let bob: Client;

beforeAll(async () => {
  harness = await startHarness();
  const issued = await harness.issue();
  orgKeyId = issued.id;
  org = clientOf(harness, issued.key);
  alice = await org.withKey({ userId: harness.alice });
  bob = await org.withKey({ userId: harness.bob });
});
afterAll(() => harness.close());

const OWNERS: Record<string, string> = {
  contacts: 'owner_id',
  companies: 'owner_id',
  deals: 'owner_id',
  tasks: 'main_assignee_id',
};
const INTERACTION = { type: 'EMAIL', direction: 'INBOUND', title: 'Hello' };

for (const resource of CREATABLE.filter((name) => name !== 'pipelines')) {
  const owner = OWNERS[resource];
  describe(`new ${resource}`, () => {
    test('belong to the user whose key made them, and to nobody where the organization did', async () => {
      const own = await alice.create(resource);
      expect(own.created_by).toBe(harness.alice);
      const theirs = await org.create(resource);
      expect(theirs.created_by).toBe(orgKeyId);
      if (owner === undefined) return;
      expect(own[owner]).toBe(harness.alice);
      expect(theirs[owner]).toBeNull();
      const given = await alice.create(resource, { ...minimalBody(resource), [owner]: harness.alice });
      expect(given[owner]).toBe(harness.alice);
    });

    test('are seen by every key of that user', async () => {
      const second = await org.withKey({ userId: harness.alice });
      const { id, created_by } = await second.create(resource);
      expect(created_by).toBe(harness.alice);
      expect((await alice.fetch(resource, id)).id).toBe(id);
      expectMissing(await bob.get(`/${resource}/${id}`));
    });
  });
}

for (const [resource, owner] of Object.entries(OWNERS)) {
  describe(`${owner} of ${resource}`, () => {
    test('can be given away neither on create nor in a change', async () => {
      const own = await alice.create(resource);
      for (const value of [harness.bob, 'absent', Bun.randomUUIDv7()]) {
        const body = { ...minimalBody(resource), [owner]: value };
        expectError(await alice.post(`/${resource}`, body), 403, 'OPERATION_FORBIDDEN');
        expectError(await alice.patch(`/${resource}/${own.id}`, body), 403, 'OPERATION_FORBIDDEN');
      }
      const nobody = { [owner]: null };
      expectError(await alice.patch(`/${resource}/${own.id}`, nobody), 403, 'OPERATION_FORBIDDEN');
      const mine = await alice.create(resource, { ...minimalBody(resource), ...nobody });
      expect(mine[owner]).toBe(harness.alice);
      expect(await alice.fetch(resource, own.id)).toEqual(own);
      expect((await alice.update(resource, own.id, { [owner]: harness.alice }))[owner]).toBe(harness.alice);
    });

    test('fails its item of a batch alone', async () => {
      const good = minimalBody(resource);
      const items = [good, { ...good, [owner]: harness.bob }, good];
      const { data } = (await alice.post(`/${resource}/batch`, items)).body;
      expect(data.items.map((item: Json) => item.error?.code ?? item.data[owner])).toEqual([
        harness.alice,
        'OPERATION_FORBIDDEN',
        harness.alice,
      ]);
    });

    test('is given by an organization-wide key, and changes who sees the record', async () => {
      const { id } = await alice.create(resource);
      await org.update(resource, id, { [owner]: harness.bob });
      expectMissing(await alice.get(`/${resource}/${id}`));
      expect((await bob.fetch(resource, id))[owner]).toBe(harness.bob);
      await org.update(resource, id, { [owner]: null });
      expectMissing(await bob.get(`/${resource}/${id}`));
    });

    test('names a user of the organization', async () => {
      const { id } = await org.create(resource);
      for (const value of ['absent', id, orgKeyId])
        expectFault(await org.patch(`/${resource}/${id}`, { [owner]: value }), 'VALIDATION_FAILED', owner);
      const { key } = await harness.issue({ orgNumber: harness.otherOrgNumber });
      const body = { ...minimalBody(resource), [owner]: harness.alice };
      expectFault(await clientOf(harness, key).post(`/${resource}`, body), 'VALIDATION_FAILED', owner);
    });
  });
}

test('pipelines are read by everyone and written by organization-wide keys', async () => {
  const [pipeline] = await alice.list('/pipelines');
  expect(await alice.fetch('pipelines', pipeline.id)).toEqual(pipeline);
  const { id } = await org.create('pipelines', { name: 'Unused' });
  for (const reply of [
    await alice.post('/pipelines', { name: 'P' }),
    await alice.post('/pipelines', {}),
    await alice.patch(`/pipelines/${id}`, { name: 'P' }),
    await alice.patch('/pipelines/absent', {}),
    await alice.del(`/pipelines/${id}`),
    await alice.del('/pipelines/absent'),
    await alice.post('/pipelines/batch', []),
    await alice.post('/pipelines/batch', [{ name: 'P' }]),
  ])
    expectError(reply, 403, 'OPERATION_FORBIDDEN');
  const { key } = await harness.issue({ userId: harness.alice, scopes: ['pipelines:read'] });
  const reply = await clientOf(harness, key).post('/pipelines', { name: 'P' });
  expectError(reply, 403, 'AUTH_INSUFFICIENT_SCOPE');
  expect((await alice.create('deals')).pipeline_id).toBe(pipeline.id);
});

describe('a conflict', () => {
  const rows: [string, (value: string) => Json, () => string][] = [
    ['contacts', (email) => ({ email }), uniqueEmail],
    ['contacts', (email) => ({ first_name: 'A', alt_emails: [email] }), uniqueEmail],
    ['companies', (domain) => ({ domain }), () => uniqueEmail().split('@')[0] ?? ''],
  ];
  for (const [resource, body, unique] of rows) {
    test(`of ${Object.keys(body('')).at(-1)} has a Location only where the key sees the record`, async () => {
      const value = unique();
      const { id } = await bob.create(resource, body(value));
      const own = await alice.create(resource);
      for (const reply of [
        await alice.post(`/${resource}`, body(value)),
        await alice.patch(`/${resource}/${own.id}`, body(value)),
      ]) {
        expect([reply.status, reply.headers.get('Location')]).toEqual([409, null]);
        expect(reply.text).not.toContain(id);
      }
      for (const sees of [bob, org]) {
        const reply = await sees.post(`/${resource}`, body(value));
        expect(reply.headers.get('Location')).toBe(`${BASE_URL}/api/v2/${resource}/${id}`);
      }
    });
  }
});

describe('interactions', () => {
  test("cannot be about another's contact, by id or by email", async () => {
    const { id, email } = await bob.create('contacts', { email: uniqueEmail() });
    const byId = await alice.post('/interactions', { ...INTERACTION, main_contact: id });
    expectFault(byId, 'VALIDATION_FAILED', 'main_contact');
    const { key } = await harness.issue({ userId: harness.alice, scopes: ['interactions:write'] });
    const reply = await alice.post('/interactions', { ...INTERACTION, main_contact_email: email });
    expectFault(reply, 'VALIDATION_FAILED', 'main_contact_email');
    const unscoped = clientOf(harness, key);
    const hidden = await unscoped.post('/interactions', { ...INTERACTION, main_contact_email: email });
    const absent = await unscoped.post('/interactions', {
      ...INTERACTION,
      main_contact_email: uniqueEmail(),
    });
    expect(wordsOf(hidden)).toEqual(wordsOf(absent));
    expect((await bob.fetch('contacts', id)).last_interaction_at).toBeNull();
  });

  test('make a contact of the user’s own from an unknown email', async () => {
    const email = uniqueEmail();
    const { main_contact } = await alice.create('interactions', {
      ...INTERACTION,
      main_contact_email: email,
    });
    expect(await alice.fetch('contacts', main_contact)).toMatchObject({
      email,
      owner_id: harness.alice,
      created_by: harness.alice,
    });
  });

  test("do not repeat another's", async () => {
    const origin = { ...INTERACTION, primary_id: 'of-two-users' };
    const first = await bob.create('interactions', { ...origin, main_contact_email: uniqueEmail() });
    const own = await alice.create('interactions', { ...origin, main_contact_email: uniqueEmail() });
    expect(own).toMatchObject({ is_duplicate: false, created_by: harness.alice });
    expect(own.id).not.toBe(first.id);
    const again = await alice.create('interactions', { ...origin, main_contact_email: uniqueEmail() });
    expect(again).toMatchObject({ id: own.id, is_duplicate: true });
  });
});

test('v1 keys are organization-wide', async () => {
  const { id } = await bob.create('contacts', { email: uniqueEmail() });
  expect((await harness.send('GET', `/api/v1/people/${id}`)).status).toBe(200);
});
