// Tasks, notes and segments: done_at, trees without cycles, members that count.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { type Client, clientOf, expectFault, expectMissing } from '../support/v2.ts';

let harness: Harness;
let api: Client;

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

const at = () => new Date(harness.clock.now).toISOString();

describe('done_at of a task', () => {
  test('is set on a create with done, and null without', async () => {
    expect(await api.create('tasks', { name: 'T', done: true })).toMatchObject({ done: true, done_at: at() });
    expect(await api.create('tasks', { name: 'T' })).toMatchObject({ done: false, done_at: null });
  });

  test('follows done, and stays while done stays', async () => {
    const { id } = await api.create('tasks', { name: 'T' });
    harness.clock.now += 1_000;
    const task = await api.update('tasks', id, { done: true });
    const done_at = at();
    expect(task).toMatchObject({ done: true, done_at });
    harness.clock.now += 1_000;
    expect(await api.update('tasks', id, { done: true })).toMatchObject({ done_at });
    expect(await api.update('tasks', id, { name: 'U' })).toMatchObject({ done: true, done_at });
    expect(await api.update('tasks', id, { done: false })).toMatchObject({ done: false, done_at: null });
    harness.clock.now += 1_000;
    expect(await api.update('tasks', id, { done: true })).toMatchObject({ done_at: at() });
    expect(await api.fetch('tasks', id)).toMatchObject({ done: true, done_at: at() });
  });
});

describe('notes in trees', () => {
  const note = async (parent_id: string | null = null): Promise<string> =>
    (await api.create('notes', { title: 'N', parent_id })).id;

  test('a note stands under another, is moved, and is put at the top', async () => {
    const [top, other] = [await note(), await note()];
    const id = await note(top);
    expect((await api.fetch('notes', id)).parent_id).toBe(top);
    expect((await api.update('notes', id, { parent_id: other })).parent_id).toBe(other);
    expect((await api.update('notes', id, { parent_id: null })).parent_id).toBeNull();
  });

  test('no note stands under itself, however deep', async () => {
    const first = await note();
    const chain = [first];
    for (let depth = 0; depth < 5; depth++) chain.push(await note(chain.at(-1)));
    for (const below of chain)
      expectFault(await api.patch(`/notes/${first}`, { parent_id: below }), 'VALIDATION_FAILED', 'parent_id');
    expect((await api.fetch('notes', first)).parent_id).toBeNull();
    await api.update('notes', String(chain[3]), { parent_id: null });
    await api.update('notes', first, { parent_id: chain[4] });
    expectFault(
      await api.patch(`/notes/${chain[3]}`, { parent_id: chain[1] }),
      'VALIDATION_FAILED',
      'parent_id',
    );
  });

  test('a note under itself is a fault also where the parent is said again', async () => {
    const top = await note();
    const below = await note(top);
    expect((await api.update('notes', below, { parent_id: top })).parent_id).toBe(top);
    expectFault(await api.patch(`/notes/${below}`, { parent_id: below }), 'VALIDATION_FAILED', 'parent_id');
  });

  describe('nested 100 levels deep', () => {
    const RANGE = 'VALIDATION_OUT_OF_RANGE';
    const path = async (length: number, top: string | null = null): Promise<string[]> => {
      const ids: string[] = [];
      for (let level = 0; level < length; level++) ids.push(await note(ids.at(-1) ?? top));
      return ids;
    };
    const move = (id: string | undefined, parent_id: string | undefined) =>
      api.patch(`/notes/${id}`, { parent_id });

    test('a new note, alone and in a batch', async () => {
      const ids = await path(99);
      const last = await note(ids[98]);
      const refused = await api.post('/notes', { title: 'N', parent_id: last });
      expectFault(refused, RANGE, 'parent_id');
      expect(refused.body.error.details[0].message).toBe(
        'must be on level 99 or higher up; notes can be nested 100 levels deep',
      );
      const items = [last, ids[98], ids[0]].map((parent_id) => ({ title: 'N', parent_id }));
      const { body } = await api.post('/notes/batch', items);
      expect(body.data.items.map((item: Json) => item.status)).toEqual(['error', 'created', 'created']);
      expect(body.data.items[0].error.details[0]).toMatchObject({ path: 'parent_id', code: RANGE });
    });

    test('a note that is moved, with what stands below it', async () => {
      const deep = await path(98);
      const [single, [top, , leaf]] = [await note(), await path(3)];
      const refused = await move(top, deep[97]);
      expectFault(refused, RANGE, 'parent_id');
      expect(refused.body.error.details[0].message).toBe(
        'must be on level 97 or higher up; notes can be nested 100 levels deep, and this note has 2 levels of notes below it',
      );
      expect((await move(top, deep[96])).status).toBe(200);
      expect((await move(single, leaf)).status).toBe(422);
      expect((await move(single, deep[97])).status).toBe(200);
      expectFault(await move(deep[0], leaf), 'VALIDATION_FAILED', 'parent_id');
      expect((await move(top, deep[0])).status).toBe(200);
    });

    test('a tree that is deeper already is shown, and goes up, but not down', async () => {
      const [upper, lower, [elsewhere]] = [await path(100), await path(100), await path(1)];
      const { store, orgNumber } = harness;
      await store.write(orgNumber, (trx) =>
        trx
          .updateTable('notes' as never)
          .set({ parent_id: upper[99] } as never)
          .where('id' as never, '=', lower[0] as never)
          .execute(),
      );
      expect((await api.fetch('notes', String(lower[99]))).parent_id).toBe(lower[98]);
      expectFault(await move(lower[50], upper[99]), RANGE, 'parent_id');
      expectFault(await move(upper[0], elsewhere), RANGE, 'parent_id');
      expect((await move(lower[0], upper[50])).status).toBe(200);
      expect((await move(lower[0], upper[60])).status).toBe(422);
      expect((await api.update('notes', String(lower[0]), { parent_id: null })).parent_id).toBeNull();
      expect((await api.update('notes', String(lower[99]), { title: 'Still' })).title).toBe('Still');
    });
  });

  test('notes under a deleted one come to the top', async () => {
    const top = await note();
    const below = await note(top);
    await api.del(`/notes/${top}`);
    expect((await api.fetch('notes', below)).parent_id).toBeNull();
    expectMissing(await api.get(`/notes/${top}`));
  });

  test('is_archived is set and unset', async () => {
    const id = await note();
    expect((await api.update('notes', id, { is_archived: true })).is_archived).toBe(true);
    expect(await api.ids('/notes?is_archived=true')).toEqual([id]);
    expect((await api.update('notes', id, { is_archived: false })).is_archived).toBe(false);
    expect(await api.ids('/notes?is_archived=true')).toEqual([]);
  });
});

describe('segments', () => {
  test('are of contacts unless said otherwise, and stay what they are', async () => {
    expect((await api.create('segments', { name: 'S' })).record_type).toBe('contact');
    const { id } = await api.create('segments', { name: 'S', record_type: 'company' });
    for (const record_type of ['contact', 'company', null])
      expectFault(await api.patch(`/segments/${id}`, { record_type }), 'VALIDATION_FAILED', 'record_type');
    expect((await api.fetch('segments', id)).record_type).toBe('company');
    expectFault(
      await api.post('/segments', { name: 'S', record_type: 'deal' }),
      'VALIDATION_FAILED',
      'record_type',
    );
  });

  test('member_count counts members as they come and go', async () => {
    const { id, member_count } = await api.create('segments', { name: 'S' });
    expect(member_count).toBe(0);
    const members = [
      await api.create('contacts'),
      await api.create('contacts'),
      await api.create('contacts'),
    ];
    const count = async () => (await api.fetch('segments', id)).member_count;
    for (const member of [...members, ...members])
      await api.post(`/segments/${id}/members`, { record_id: member.id });
    expect(await count()).toBe(3);
    await api.del(`/segments/${id}/members/${members[0].id}`);
    expect(await count()).toBe(2);
    await api.del(`/contacts/${members[1].id}`);
    expect(await count()).toBe(1);
    expect(await api.update('segments', id, { name: 'T' })).toMatchObject({ name: 'T', member_count: 1 });
    const listed = await api.list('/segments');
    expect(listed.find((segment) => segment.id === id).member_count).toBe(1);
  });
});
