// Access level `user`: another's record is as good as absent, everywhere and in the same words.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { getResource, RESOURCES } from '../../db/model/resources/registry.ts';
import { COLLECTIONS, makeParent, titleOf } from '../support/collections.ts';
import { CHANGEABLE, CREATABLE, READ_ONLY } from '../support/contract.ts';
import { type Harness, type Json, type Reply, startHarness } from '../support/harness.ts';
import { insertReadOnly, insertTranscribed } from '../support/read-only.ts';
import {
  ABSENT,
  type Client,
  clientOf,
  expectFault,
  expectMissing,
  minimalBody,
  wordsOf,
} from '../support/v2.ts';

let harness: Harness;
/** The whole organization, and two of its users. */
let org: Client;
let alice: Client;
let bob: Client;

beforeAll(async () => {
  harness = await startHarness();
  org = clientOf(harness);
  alice = await org.withKey({ userId: harness.alice });
  bob = await org.withKey({ userId: harness.bob });
});
afterAll(() => harness.close());

const OWNED = RESOURCES.filter((resource) => resource.owner !== null).map((resource) => resource.name);
/** Resources that a user's key creates and whose records are that user's. */
const OWN = CREATABLE.filter((name) => name !== 'pipelines');

/** A record of the user's own. */
async function makeFor(owner: Client, userId: string, resource: string): Promise<string> {
  if (OWN.includes(resource)) return (await owner.create(resource)).id;
  if (resource === 'recordings') return insertTranscribed(harness, { owner_id: userId });
  return insertReadOnly(harness, resource, { owner_id: userId });
}
const forAlice = (resource: string) => makeFor(alice, harness.alice, resource);
const forBob = (resource: string) => makeFor(bob, harness.bob, resource);

/** Asserts that both replies are the same to the byte, apart from meta. */
function expectSameWords(hidden: Reply, absent: Reply): void {
  expect(wordsOf(hidden)).toEqual(wordsOf(absent));
}

for (const resource of OWNED) {
  describe(resource, () => {
    test("are the user's own only, in lists and by id; the organization sees all", async () => {
      const [own, other] = [await forAlice(resource), await forBob(resource)];
      const nobodys = READ_ONLY.includes(resource)
        ? await insertReadOnly(harness, resource)
        : (await org.create(resource)).id;
      const ids = await alice.ids(`/${resource}?limit=200`);
      expect(ids).toContain(own);
      expect(ids).not.toContain(other);
      expect(ids).not.toContain(nobodys);
      expect(await org.ids(`/${resource}?limit=200`)).toEqual(expect.arrayContaining([own, other, nobodys]));
      expect((await alice.fetch(resource, own)).id).toBe(own);
      for (const id of [other, nobodys]) {
        expectSameWords(await alice.get(`/${resource}/${id}`), await alice.get(`/${resource}/${ABSENT}`));
        expectMissing(await alice.get(`/${resource}/${id}`));
        expect((await org.fetch(resource, id)).id).toBe(id);
      }
    });

    test('one page holds nothing of others, nor tells that there is more', async () => {
      const { key } = await harness.issue({ userId: harness.alice });
      const again = clientOf(harness, key);
      const own = await again.ids(`/${resource}?limit=200`);
      await forBob(resource);
      const { data, page_info } = (await again.get(`/${resource}?limit=${own.length}`)).body;
      expect(data.map((record: Json) => record.id)).toEqual(own);
      expect(page_info.has_next_page).toBe(false);
    });
  });
}

for (const resource of CHANGEABLE.filter((name) => name !== 'pipelines')) {
  const [field = ''] = Object.keys(minimalBody(resource));
  describe(`another's record of ${resource}`, () => {
    test('is neither changed nor deleted, as if it were absent', async () => {
      const id = await forBob(resource);
      const before = await bob.fetch(resource, id);
      for (const body of [{}, { [field]: 'Taken over' }]) {
        const hidden = await alice.patch(`/${resource}/${id}`, body);
        expectMissing(hidden);
        expectSameWords(hidden, await alice.patch(`/${resource}/${ABSENT}`, body));
      }
      const removed = await alice.del(`/${resource}/${id}`);
      expectMissing(removed);
      expectSameWords(removed, await alice.del(`/${resource}/${ABSENT}`));
      expect(await bob.fetch(resource, id)).toEqual(before);
    });
  });
}

describe('references in bodies', () => {
  for (const resource of OWN) {
    for (const [field, declared] of Object.entries(getResource(resource).fields)) {
      const { kind, references: target = '', access } = declared;
      const isList = kind === 'references';
      if (!OWNED.includes(target) || access === 'read') continue;
      test(`${resource}.${field} cannot name another's ${getResource(target).singular}`, async () => {
        const hidden = await forBob(target);
        const { main_contact_email, ...least } = minimalBody(resource);
        const body = isList ? { ...least, main_contact_email } : least;
        const create = (id: string) => alice.post(`/${resource}`, { ...body, [field]: isList ? [id] : id });
        expectFault(await create(hidden), 'VALIDATION_FAILED', isList ? `${field}.0` : field);
        expectSameWords(await create(hidden), await create(ABSENT));
        const own = await forAlice(target);
        expect((await create(own)).status).toBe(201);
        if (resource === 'interactions') return;
        const { id } = (await create(own)).body.data;
        const change = (value: string) => alice.patch(`/${resource}/${id}`, { [field]: value });
        expectSameWords(await change(hidden), await change(ABSENT));
        expect((await alice.fetch(resource, id))[field]).toBe(own);
      });
    }
  }
});

describe('filters', () => {
  for (const { name, filters } of RESOURCES) {
    for (const [filter, { references, match }] of Object.entries(filters)) {
      const [target = ''] = references;
      const [column] = match.flatMap((one) => ('column' in one ? [one.column] : []));
      if (!OWNED.includes(target) || column === undefined || name === 'interactions') continue;
      test(`${name} by ${filter} of another's ${getResource(target).singular} finds nothing`, async () => {
        const [hidden, own] = [await forBob(target), await forAlice(target)];
        const record = await forAlice(name);
        const refer = async (id: string) => {
          if (!READ_ONLY.includes(name)) return org.update(name, record, { [column]: id });
          const set = { [column]: id };
          return harness.store.write('accounts', (trx) =>
            trx
              .updateTable(name as 'records')
              .set(set)
              .where('id', '=', record)
              .execute(),
          );
        };
        await refer(hidden);
        expect(await alice.ids(`/${name}?${filter}=${hidden}`)).toEqual([]);
        expect(await org.ids(`/${name}?${filter}=${hidden}`)).toContain(record);
        await refer(own);
        expect(await alice.ids(`/${name}?${filter}=${own}`)).toEqual([record]);
      });
    }
  }

  test('by link: segment_id, record_id, contact_id and company_id of hidden records find nothing', async () => {
    const contact = await alice.create('contacts');
    const segment = await bob.create('segments');
    await org.post(`/segments/${segment.id}/members`, { record_id: contact.id });
    expect(await alice.list(`/contacts?segment_id=${segment.id}`)).toEqual([]);
    expect(await org.ids(`/contacts?segment_id=${segment.id}`)).toEqual([contact.id]);
    const [hidden, company] = [await bob.create('contacts'), await bob.create('companies')];
    const note = await alice.create('notes');
    await org.post(`/notes/${note.id}/records`, { record_type: 'contact', record_id: hidden.id });
    expect(await alice.list(`/notes?record_id=${hidden.id}`)).toEqual([]);
    const deal = await alice.create('deals');
    await org.post(`/deals/${deal.id}/contacts`, { contact_id: hidden.id });
    await org.post(`/deals/${deal.id}/companies`, { company_id: company.id });
    expect(await alice.list(`/deals?contact_id=${hidden.id}`)).toEqual([]);
    expect(await alice.list(`/deals?company_id=${company.id}`)).toEqual([]);
    const { id } = await alice.create('contacts', { first_name: 'A' });
    await org.update('contacts', id, { company_id: company.id });
    await alice.create('interactions', { type: 'MEMO', direction: 'EVENT', title: 'T', main_contact: id });
    await org.update('contacts', id, { owner_id: harness.bob });
    expect(await alice.list(`/interactions?contact_id=${id}`)).toEqual([]);
    expect(await alice.list(`/interactions?company_id=${company.id}`)).toEqual([]);
  });

  test("by owner: another user's find nothing", async () => {
    for (const path of [
      `/contacts?owner_id=${harness.bob}`,
      `/deals?owner_id=${harness.bob}`,
      `/tasks?main_assignee_id=${harness.bob}`,
    ])
      expect(await alice.list(path)).toEqual([]);
    const hidden = await bob.create('contacts', { email: 'hidden-filter@mail.example', phone: '+49 99' });
    for (const query of ['email=hidden-filter@mail.example', 'phone=%2B49%2099'])
      expect(await alice.list(`/contacts?${query}`)).toEqual([]);
    expect(await bob.ids('/contacts?phone=%2B49%2099')).toEqual([hidden.id]);
  });
});

for (const collection of COLLECTIONS) {
  const { parent, child, body, field, name } = collection;
  describe(titleOf(collection), () => {
    test("another's parent is absent", async () => {
      const path = await makeParent(bob, collection);
      const absent = `/${parent}/${ABSENT}/${name}`;
      const own = await alice.create(child);
      await org.post(path, body(own.id));
      expectMissing(await alice.get(path));
      expectSameWords(await alice.get(path), await alice.get(absent));
      expectSameWords(await alice.post(path, body(own.id)), await alice.post(absent, body(own.id)));
      expectSameWords(await alice.del(`${path}/${own.id}`), await alice.del(`${absent}/${own.id}`));
      expect(await bob.list(path)).toEqual([]);
      expect(await org.list(path)).toHaveLength(1);
    });

    test("another's child is neither linked, nor shown, nor unlinked", async () => {
      const path = await makeParent(alice, collection);
      const [own, hidden] = [await alice.create(child), await bob.create(child)];
      expectFault(await alice.post(path, body(hidden.id)), 'VALIDATION_FAILED', field);
      expectSameWords(await alice.post(path, body(hidden.id)), await alice.post(path, body(ABSENT)));
      for (const { id } of [own, hidden]) expect((await org.post(path, body(id))).status).toBe(200);
      const shown = (await alice.list(path)).map((one) => one.record_id ?? one.id);
      expect(shown).toEqual([own.id]);
      const page = (await alice.get(`${path}?limit=1`)).body;
      expect([page.data.length, page.page_info.has_next_page]).toEqual([1, false]);
      expectSameWords(await alice.post(path, body(hidden.id)), await alice.post(path, body(ABSENT)));
      expectMissing(await alice.del(`${path}/${hidden.id}`));
      expectSameWords(await alice.del(`${path}/${hidden.id}`), await alice.del(`${path}/${ABSENT}`));
      expect(await org.list(path)).toHaveLength(2);
    });
  });
}
