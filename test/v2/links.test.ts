// Collection sub-resources: link, link again, list newest first, unlink; and what deletes leave behind.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { COLLECTIONS, makeParent, titleOf } from '../support/collections.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { type Client, clientOf, expectError, expectFault, expectMissing } from '../support/v2.ts';

let harness: Harness;
let api: Client;

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

const at = () => new Date(harness.clock.now).toISOString();

for (const collection of COLLECTIONS) {
  const { parent, child, body, field, item } = collection;
  describe(titleOf(collection), () => {
    test('links, shows the item, and linking again changes nothing', async () => {
      const path = await makeParent(api, collection);
      const record = await api.create(child);
      const first = await api.post(path, body(record.id));
      const expected = item(record, at());
      for (const reply of [first, await api.post(path, body(record.id))]) {
        expect([reply.status, reply.body.object, reply.body.data]).toEqual([200, 'success', expected]);
        expect(reply.headers.get('Location')).toBeNull();
      }
      expect(await api.list(path)).toEqual([expected]);
    });

    test('lists newest first, page after page', async () => {
      const path = await makeParent(api, collection);
      const expected: Json[] = [];
      for (let count = 0; count < 7; count++) {
        const record = await api.create(child);
        await api.post(path, body(record.id));
        expected.unshift(item(record, at()));
      }
      expect(await api.list(path)).toEqual(expected);
      const seen: Json[] = [];
      let cursor = '';
      for (;;) {
        const reply = await api.get(`${path}?limit=3${cursor}`);
        seen.push(...reply.body.data);
        if (!reply.body.page_info.has_next_page) break;
        cursor = `&cursor=${reply.body.page_info.end_cursor}`;
      }
      expect(seen).toEqual(expected);
    });

    test('a list continues where it was while links are added and removed', async () => {
      const path = await makeParent(api, collection);
      const ids: string[] = [];
      const link = async () => {
        const { id } = await api.create(child);
        await api.post(path, body(id));
        ids.unshift(id);
      };
      for (let count = 0; count < 6; count++) await link();
      const first = await api.get(`${path}?limit=2`);
      await link();
      await api.del(`${path}/${ids[2]}`);
      await api.del(`${path}/${ids[3]}`);
      const rest = await api.list(`${path}?cursor=${first.body.page_info.end_cursor}`);
      expect(rest.map((one) => one.record_id ?? one.id)).toEqual(ids.slice(4));
    });

    test('unlinks once, and links again', async () => {
      const path = await makeParent(api, collection);
      const record = await api.create(child);
      await api.post(path, body(record.id));
      expect((await api.del(`${path}/${record.id}`)).status).toBe(204);
      expectMissing(await api.del(`${path}/${record.id}`));
      expect(await api.list(path)).toEqual([]);
      harness.clock.now += 1_000;
      expect((await api.post(path, body(record.id))).body.data.linked_at).toBe(at());
      expect(await api.fetch(child, record.id)).toEqual(record);
    });

    test('what is not linked, or not there, cannot be unlinked', async () => {
      const path = await makeParent(api, collection);
      const record = await api.create(child);
      for (const id of [record.id, 'absent', '%00']) expectMissing(await api.del(`${path}/${id}`));
      expectMissing(await api.del(`/${parent}/absent/${collection.name}/${record.id}`));
    });

    test('neither a parent nor a child that is absent can be linked', async () => {
      const path = await makeParent(api, collection);
      const record = await api.create(child);
      expectMissing(await api.post(`/${parent}/absent/${collection.name}`, body(record.id)));
      expectMissing(await api.get(`/${parent}/absent/${collection.name}`));
      const task = await api.create('tasks');
      for (const id of ['absent', '', task.id])
        expectFault(await api.post(path, body(id)), 'VALIDATION_FAILED', field);
    });

    test('a record of another kind, or of another organization, is as good as absent', async () => {
      const path = await makeParent(api, collection);
      const other = await api.withKey({ orgNumber: harness.otherOrgNumber });
      const elsewhere = await other.create(child);
      const otherKind = await api.create(child === 'contacts' ? 'companies' : 'contacts');
      for (const { id } of [elsewhere, otherKind])
        expectFault(await api.post(path, body(id)), 'VALIDATION_FAILED', field);
      expectMissing(await other.get(path));
      expectMissing(await other.post(path, body(elsewhere.id)));
    });

    test('the body is checked', async () => {
      const path = await makeParent(api, collection);
      const { id } = await api.create(child);
      const { [field]: _, ...without } = body(id);
      expectFault(await api.post(path, without), 'VALIDATION_REQUIRED_FIELD', field);
      expectFault(await api.post(path, { ...body(id), nonsense: 1 }), 'VALIDATION_FAILED', 'nonsense');
      for (const value of [5, null, {}, [id]])
        expectFault(await api.post(path, { ...body(id), [field]: value }), 'VALIDATION_FAILED', field);
      expect(await api.list(path)).toEqual([]);
    });

    test('lists take limit and cursor only', async () => {
      const path = await makeParent(api, collection);
      for (const query of [
        'sort_by=created_at',
        'sort_direction=asc',
        'created_since=0',
        'record_type=contact',
      ])
        expectFault(await api.get(`${path}?${query}`), 'VALIDATION_FAILED', String(query.split('=')[0]));
      for (const limit of [0, 201])
        expectFault(await api.get(`${path}?limit=${limit}`), 'VALIDATION_OUT_OF_RANGE', 'limit');
      expectFault(await api.get(`${path}?cursor=x`), 'VALIDATION_INVALID_FORMAT', 'cursor');
    });

    test('a cursor is good for its own parent only', async () => {
      const [one, two] = [await makeParent(api, collection), await makeParent(api, collection)];
      const record = await api.create(child);
      for (const path of [one, two]) await api.post(path, body(record.id));
      const { end_cursor } = (await api.get(`${one}?limit=1`)).body.page_info;
      expect(await api.list(`${one}?cursor=${end_cursor}`)).toEqual([]);
      expectFault(await api.get(`${two}?cursor=${end_cursor}`), 'VALIDATION_INVALID_FORMAT', 'cursor');
    });

    test('links go with the child, and with the parent', async () => {
      const path = await makeParent(api, collection);
      const [one, two] = [await api.create(child), await api.create(child)];
      for (const { id } of [one, two]) await api.post(path, body(id));
      await api.del(`/${child}/${one.id}`);
      expect((await api.list(path)).map((shown) => shown.record_id ?? shown.id)).toEqual([two.id]);
      expect((await api.del(path.split('/').slice(0, 3).join('/'))).status).toBe(204);
      expectMissing(await api.get(path));
      expect(await api.fetch(child, two.id)).toEqual(two);
    });
  });
}

describe('supervisor of a contact in a deal', () => {
  test('is a contact, kept as first linked, and shown with the contact', async () => {
    const path = `/deals/${(await api.create('deals')).id}/contacts`;
    const [contact, boss, otherBoss] = [
      await api.create('contacts'),
      await api.create('contacts'),
      await api.create('contacts'),
    ];
    const first = await api.post(path, { contact_id: contact.id, supervisor: boss.id });
    expect(first.body.data).toEqual({ ...contact, supervisor: boss.id, linked_at: at() });
    for (const supervisor of [otherBoss.id, null]) {
      const again = await api.post(path, { contact_id: contact.id, supervisor });
      expect(again.body.data).toEqual(first.body.data);
    }
    expect(await api.list(path)).toEqual([first.body.data]);
    await api.del(`/contacts/${boss.id}`);
    expect((await api.list(path))[0].supervisor).toBeNull();
  });

  test('that does not exist is a fault, also where the link is there', async () => {
    const path = `/deals/${(await api.create('deals')).id}/contacts`;
    const contact = await api.create('contacts');
    const company = await api.create('companies');
    const contact_id = contact.id;
    for (const supervisor of ['absent', company.id, '', 5])
      expectFault(await api.post(path, { contact_id, supervisor }), 'VALIDATION_FAILED', 'supervisor');
    const both = await api.post(path, { contact_id: 'absent', supervisor: 'absent' });
    expectError(both, 422, 'VALIDATION_FAILED', 'contact_id', 'supervisor');
    expect(await api.list(path)).toEqual([]);
  });
});

test('a note names the type of each record, and only its own types', async () => {
  const path = `/notes/${(await api.create('notes')).id}/records`;
  const contact = await api.create('contacts');
  const record_id = contact.id;
  expectFault(await api.post(path, { record_id }), 'VALIDATION_REQUIRED_FIELD', 'record_type');
  for (const record_type of ['contacts', 'task', 'note', '', null, 5])
    expectFault(await api.post(path, { record_type, record_id }), 'VALIDATION_FAILED', 'record_type');
  expectFault(await api.post(path, { record_type: 'deal', record_id }), 'VALIDATION_FAILED', 'record_id');
});
