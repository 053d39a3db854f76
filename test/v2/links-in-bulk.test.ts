// Links in bulk: batches that link and unlink records of every kind, and lists of all links of a kind.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { KINDS, makeParent, titleOf } from '../support/link-kinds.ts';
import { ABSENT, type Client, clientOf, expectError, outcomesOf } from '../support/v2.ts';

let harness: Harness;
let api: Client;
let alice: Client;
let bob: Client;
let elsewhere: Client;

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
  alice = await api.withKey({ userId: harness.alice });
  bob = await api.withKey({ userId: harness.bob });
  elsewhere = await api.withKey({ orgNumber: harness.otherOrgNumber });
});
afterAll(() => harness.close());

const at = () => new Date(harness.clock.now).toISOString();
const keyWith = async (...scopes: string[]) => await api.withKey({ scopes });

const link = (items: Json, client = api) => client.batch('/links/batch', items);
const unlink = (items: Json, client = api) => client.batch('/links/batch/delete', items);
const linksOf = (of: string, parent: string, client = api) =>
  client.list(`/links?of=${of}&parent_id=${parent}`);

for (const kind of KINDS) {
  const { of, parent, child, own, shown, scopes } = kind;
  const makeBoth = async (): Promise<[parentId: string, childId: string]> => [
    await makeParent(harness, api, kind),
    (await api.create(child)).id,
  ];
  const itemOf = (parent_id: string, id: string): Json => ({ of, parent_id, id, ...own });

  describe(titleOf(kind), () => {
    test('links a record, shows the link, and linking again is unchanged', async () => {
      const [parent_id, id] = await makeBoth();
      const data = await link([itemOf(parent_id, id)]);
      const expected = { parent_id, id, linked_at: at(), ...shown };
      expect(data).toEqual({
        items: [{ index: 0, status: 'linked', data: expected }],
        summary: { total: 1, succeeded: 1, failed: 0 },
      });
      harness.clock.now += 1_000;
      expect((await link([itemOf(parent_id, id)])).items).toEqual([
        { index: 0, status: 'unchanged', data: expected },
      ]);
      expect(await linksOf(of, parent_id)).toEqual([expected]);
    });

    test('unlinks a record once', async () => {
      const [parent_id, id] = await makeBoth();
      await link([itemOf(parent_id, id)]);
      const item = { of, parent_id, id };
      const { items, summary } = await unlink([item, item]);
      expect(items).toMatchObject([
        { index: 0, status: 'unlinked' },
        { index: 1, status: 'error', error: { code: 'RESOURCE_NOT_FOUND', details: [{ path: 'id' }] } },
      ]);
      expect(items[0]).toEqual({ index: 0, status: 'unlinked' });
      expect(summary).toEqual({ total: 2, succeeded: 1, failed: 1 });
      expect(await linksOf(of, parent_id)).toEqual([]);
      expect(outcomesOf(await link([itemOf(parent_id, id)]))).toEqual(['linked']);
    });

    test('an absent parent is not found, an absent record is a fault at id', async () => {
      const [parent_id, id] = await makeBoth();
      const task = await api.create('tasks');
      const other = await elsewhere.create(child);
      const ids = ['', ABSENT, task.id, parent_id, other.id];
      const bad = ids.map((one) => itemOf(parent_id, one));
      const [orphan, ...rest] = (await link([itemOf(ABSENT, id), ...bad])).items;
      expect(orphan.error).toMatchObject({ code: 'RESOURCE_NOT_FOUND', details: [{ path: 'parent_id' }] });
      for (const { error } of rest) expect(error).toEqual(rest[1].error);
      expect(rest[1].error).toMatchObject({ code: 'VALIDATION_FAILED', details: [{ path: 'id' }] });
      const undone = (
        await unlink([itemOf(ABSENT, id), ...bad].map(({ of, parent_id, id }) => ({ of, parent_id, id })))
      ).items;
      expect(undone[0].error).toEqual(orphan.error);
      for (const { error } of undone.slice(1))
        expect(error).toMatchObject({ code: 'RESOURCE_NOT_FOUND', details: [{ path: 'id' }] });
      expect(await linksOf(of, parent_id)).toEqual([]);
    });

    test('a list has the links of all parents, newest first, page after page, also while some come and go', async () => {
      const made: Json[] = [];
      for (let count = 0; count < 9; count++) {
        const [parent_id, id] = await makeBoth();
        await link([itemOf(parent_id, id)]);
        made.unshift({ parent_id, id, linked_at: at(), ...shown });
      }
      const all = await api.all(`/links?of=${of}`, 4);
      expect(all.slice(0, 9)).toEqual(made);
      expect(all).toEqual(await api.list(`/links?of=${of}&limit=200`));
      const first = await api.get(`/links?of=${of}&limit=2`);
      const [parent_id, id] = await makeBoth();
      await link([itemOf(parent_id, id)]);
      const gone = made.slice(2, 4).map((one) => ({ of, parent_id: one.parent_id, id: one.id }));
      await unlink(gone);
      const next = await api.list(`/links?of=${of}&limit=5&cursor=${first.body.page_info.end_cursor}`);
      expect(next).toEqual(made.slice(4));
      // Those of some parents alone.
      const [a, b] = [made[5], made[7]];
      const query = `/links?of=${of}&parent_id=${b.parent_id}&parent_id=${ABSENT}&parent_id=${a.parent_id}`;
      expect(await api.list(query)).toEqual([a, b]);
      expect(await api.all(query, 1)).toEqual([a, b]);
      expect(await linksOf(of, ABSENT)).toEqual([]);
    });

    test('to a user, a hidden end is an absent one, and its links are left out', async () => {
      const own = {
        parent: await makeParent(harness, alice, kind, harness.alice),
        child: (await alice.create(child)).id,
      };
      const hidden = {
        parent: await makeParent(harness, bob, kind, harness.bob),
        child: (await bob.create(child)).id,
      };
      for (const [client, ends] of [
        [alice, own],
        [bob, hidden],
      ] as const)
        expect(outcomesOf(await link([itemOf(ends.parent, ends.child)], client))).toEqual(['linked']);
      for (const send of [link, unlink]) {
        const fields = (parent_id: string, id: string) =>
          send === link ? itemOf(parent_id, id) : { of, parent_id, id };
        const { items } = await send(
          [
            fields(hidden.parent, own.child),
            fields(ABSENT, own.child),
            fields(own.parent, hidden.child),
            fields(own.parent, ABSENT),
          ],
          alice,
        );
        expect(items[0].error).toEqual(items[1].error);
        expect(items[2].error).toEqual(items[3].error);
        expect(items.map((item: Json) => item.status)).toEqual(Array(4).fill('error'));
      }
      // Each hidden end by itself hides a link.
      const mixed = {
        parent: await makeParent(harness, alice, kind, harness.alice),
        child: (await alice.create(child)).id,
      };
      await link([
        itemOf(mixed.parent, hidden.child),
        itemOf(await makeParent(harness, bob, kind, harness.bob), mixed.child),
      ]);
      const seen = (await alice.all(`/links?of=${of}`, 2)).map((one) => [one.parent_id, one.id]);
      expect(seen).toContainEqual([own.parent, own.child]);
      const words = JSON.stringify(seen);
      for (const id of [hidden.parent, hidden.child, mixed.parent, mixed.child])
        expect(words).not.toContain(id);
      expect(await linksOf(of, hidden.parent, alice)).toEqual([]);
      expect(await linksOf(of, mixed.parent, alice)).toEqual([]);
      expect(await linksOf(of, own.parent, alice)).toEqual(await linksOf(of, own.parent));
      expect(await elsewhere.list(`/links?of=${of}`)).toEqual([]);
    });

    test('needs the scopes of a list under one parent, and the write scope of the parent for a batch', async () => {
      const [parent_id, id] = await makeBoth();
      const [other, otherChild] = [await api.create('deals'), await api.create('contacts')];
      const beside = { of: 'deals.contacts', parent_id: other.id, id: otherChild.id };
      const writer = await keyWith(`${parent}:write`);
      expect(outcomesOf(await link([itemOf(parent_id, id)], writer))).toEqual(['linked']);
      const scopeless = await keyWith(
        ...(parent === 'deals' ? ['notes:write'] : ['deals:write']),
        'contacts:read',
      );
      for (const send of [link, unlink]) {
        const item = send === link ? itemOf(parent_id, id) : { of, parent_id, id };
        const { items } = await send([item, beside, { ...item, parent_id: ABSENT }], scopeless);
        const refused = {
          code: 'AUTH_INSUFFICIENT_SCOPE',
          message: expect.stringContaining(`${parent}:write`),
        };
        expect(items[0].error).toEqual(refused);
        expect(items[2].error).toEqual(refused);
        if (parent !== 'deals') expect(items[1].status).toBe(send === link ? 'linked' : 'unlinked');
      }
      expect(await linksOf(of, parent_id, await keyWith(...scopes))).toHaveLength(1);
      expectError(
        await (await keyWith(...scopes.slice(1), 'tasks:read')).get(`/links?of=${of}`),
        403,
        'AUTH_INSUFFICIENT_SCOPE',
      );
      if (of === 'segments.members')
        return expect(await linksOf(of, parent_id, await keyWith('segments:read'))).toEqual([]);
      for (const missing of scopes) {
        const reply = await (await keyWith(...scopes.filter((one) => one !== missing), 'tasks:read')).get(
          `/links?of=${of}`,
        );
        expectError(reply, 403, 'AUTH_INSUFFICIENT_SCOPE');
        expect(reply.body.error.message).toContain(missing);
      }
    });

    test('links go with the child, and with the parent', async () => {
      const [parent_id, id] = await makeBoth();
      const second = (await api.create(child)).id;
      await link([itemOf(parent_id, id), itemOf(parent_id, second)]);
      await api.del(`/${child}/${second}`);
      // A meeting has one, which the second has replaced.
      const left = parent === 'meetings' ? [] : [id];
      expect((await linksOf(of, parent_id)).map((one) => one.id)).toEqual(left);
      if (parent === 'meetings') return;
      await api.del(`/${parent}/${parent_id}`);
      expect(await linksOf(of, parent_id)).toEqual([]);
    });
  });
}
