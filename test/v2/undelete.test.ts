// Undelete: a deleted record comes back as it was, with what belonged to it and what depended on it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import { erasePerson } from '../../db/people/erase.ts';
import { findPerson } from '../../db/people/person.ts';
import { setChangesDays } from '../../db/removal/change-retention.ts';
import { listAudit } from '../../db/tables/audit.ts';
import { ChangeMirror } from '../support/change-mirror.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { countedIn, recordTotalsOf, setQuota } from '../support/quota.ts';
import { insertReadOnly } from '../support/read-only.ts';
import { ABSENT, type Client, clientOf, expectError, uniqueEmail } from '../support/v2.ts';

let harness: Harness;
let api: Client;
beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

const undelete = (resource: string, id: string, client = api) => client.post(`/${resource}/${id}/undelete`);
/** Deletes a record and restores it. */
async function restored(resource: string, id: string, client = api): Promise<Json> {
  expect((await client.del(`/${resource}/${id}`)).status).toBe(204);
  const { status, body, text } = await undelete(resource, id, client);
  if (status !== 200) throw new Error(text);
  return body.data;
}
const without = ({ updated_at: _, ...record }: Json) => record;
const DELETABLE = RESOURCES.filter(({ verbs }) => verbs.includes('delete')).map(({ name }) => name);

describe('an undelete', () => {
  test('brings back every field but updated_at, which moves, of every resource with a delete', async () => {
    const company = (await api.create('companies')).id;
    const full: Record<string, Json> = {
      contacts: {
        ...{ email: uniqueEmail(), alt_emails: [uniqueEmail(), uniqueEmail()], first_name: 'A' },
        ...{ phone: '+1 (555) 010', remarks: '\u{1F600} "x"', company_id: company, owner_id: harness.alice },
        ...{ keep_in_touch: true, custom: { a: 1, b: 'two', c: true } },
      },
      companies: {
        domain: 'back.example',
        name: 'ÄB',
        employee_count: 3,
        estimated_revenue: 1.5,
        custom: { x: 0 },
      },
      pipelines: {
        name: 'P',
        stages: [
          { name: 'S', probability: 0.5 },
          { name: 'W', type: 'won' },
        ],
      },
      deals: {
        name: 'D',
        estimated_value: 2,
        currency: 'EUR',
        estimated_close_date: '2026-02-03',
        company_id: company,
      },
      tasks: { name: 'T', due_date: 5, done: true, company_id: company, main_assignee_id: harness.bob },
      notes: { title: 'N', content: 'C', is_archived: true },
      segments: { name: 'S', description: 'D', record_type: 'company' },
    };
    expect(Object.keys(full).toSorted()).toEqual(DELETABLE.toSorted());
    for (const [name, body] of Object.entries(full)) {
      const { id } = await api.create(name, body);
      const before = await api.fetch(name, id);
      harness.clock.now += 5_000;
      const after = await restored(name, id);
      expect(without(after)).toEqual(without(before));
      expect(after.updated_at > before.updated_at).toBe(true);
      expect(await api.fetch(name, id)).toEqual(after);
      expect(await api.ids(`/${name}?limit=200`)).toContain(id);
    }
  });

  test('is one change, followed by those of links and references, which name it as their cause', async () => {
    const [contact, deal, segment] = [
      await api.create('contacts'),
      await api.create('deals'),
      await api.create('segments'),
    ];
    const task = await api.create('tasks', { name: 'T', person_id: contact.id });
    await api.post(`/deals/${deal.id}/contacts`, { contact_id: contact.id });
    await api.post(`/segments/${segment.id}/members`, { record_id: contact.id });
    const { id } = await restored('contacts', contact.id);
    const { data } = (await api.get('/changes?sort_direction=desc&limit=4')).body;
    const [undeleted, ...caused] = data.toReversed();
    expect(undeleted).toMatchObject({
      ...{ action: 'undeleted', resource: 'contacts', record_id: id, before: null, after: null, link: null },
      ...{ cause: null, record: { id } },
    });
    expect(
      caused.map(({ action, resource, record_id, cause }: Json) => [action, resource, record_id, cause]),
    ).toEqual(
      expect.arrayContaining([
        ['updated', 'tasks', task.id, undeleted.sequence],
        ['linked', 'deals', deal.id, undeleted.sequence],
        ['linked', 'segments', segment.id, undeleted.sequence],
      ]),
    );
    const updated = caused.find(({ action }: Json) => action === 'updated');
    expect([updated.before, updated.after]).toEqual([{ person_id: null }, { person_id: id }]);
    const history = (await api.get(`/contacts/${id}/history`)).body.data.map(({ action }: Json) => action);
    expect(history).toEqual(['undeleted', 'deleted', 'created']);
  });

  test('restores links with their time and fields, member counts, and references that are still null', async () => {
    const [company, other] = [await api.create('companies'), await api.create('companies')];
    const [a, b, c] = [
      await api.create('contacts', { first_name: 'A', company_id: company.id }),
      await api.create('contacts', { first_name: 'B', company_id: company.id }),
      await api.create('contacts', { first_name: 'C', company_id: company.id }),
    ];
    const segment = await api.create('segments', { name: 'S', record_type: 'company' });
    await api.post(`/segments/${segment.id}/members`, { record_id: company.id });
    const note = await api.create('notes');
    await api.post(`/notes/${note.id}/records`, { record_type: 'company', record_id: company.id });
    const meeting = await insertReadOnly(harness, 'meetings');
    await api.put(`/meetings/${meeting}/company`, { company_id: company.id });
    const kinds = ['segments.members', 'notes.records', 'meetings.company'];
    const links = () => Promise.all(kinds.map((kind) => api.list(`/links?of=${kind}`)));
    const before = await links();
    await api.del(`/companies/${company.id}`);
    await api.update('contacts', b.id, { company_id: other.id });
    await api.update('contacts', c.id, { company_id: other.id });
    await api.update('contacts', c.id, { company_id: null });
    expect((await api.fetch('segments', segment.id)).member_count).toBe(0);
    await undelete('companies', company.id);
    expect(await links()).toEqual(before);
    expect((await api.fetch('segments', segment.id)).member_count).toBe(1);
    expect(await api.ids(`/contacts?company_id=${company.id}`)).toEqual([c.id, a.id]);
    expect((await api.fetch('contacts', b.id)).company_id).toBe(other.id);
  });

  test('leaves out links whose other end is gone, and clears references to what is gone', async () => {
    const [company, deal, gone, kept] = [
      await api.create('companies'),
      await api.create('deals'),
      await api.create('contacts'),
      await api.create('contacts'),
    ];
    const task = await api.create('tasks', { name: 'T', company_id: company.id, deal_id: deal.id });
    for (const { id } of [gone, kept]) await api.post(`/deals/${deal.id}/contacts`, { contact_id: id });
    await api.del(`/tasks/${task.id}`);
    await api.del(`/deals/${deal.id}`);
    await api.del(`/contacts/${gone.id}`);
    expect((await undelete('tasks', task.id)).body.data).toMatchObject({
      company_id: company.id,
      deal_id: null,
    });
    await undelete('deals', deal.id);
    expect(await api.ids(`/deals/${deal.id}/contacts`)).toEqual([kept.id]);
    // The task was deleted first, so the delete of the deal cleared nothing in it.
    expect((await api.fetch('tasks', task.id)).deal_id).toBeNull();
  });

  test('restores a supervisor, and that of a link that comes back only if it still exists', async () => {
    const [deal, contact, boss] = [
      await api.create('deals'),
      await api.create('contacts'),
      await api.create('contacts'),
    ];
    await api.post(`/deals/${deal.id}/contacts`, { contact_id: contact.id, supervisor: boss.id });
    const linked = () => api.list('/links?of=deals.contacts&limit=1');
    const before = await linked();
    await restored('contacts', boss.id);
    expect(await linked()).toEqual(before);
    await restored('contacts', contact.id);
    expect(await linked()).toEqual(before);
    await restored('deals', deal.id);
    expect(await linked()).toEqual(before);
    await api.del(`/contacts/${contact.id}`);
    await api.del(`/contacts/${boss.id}`);
    await undelete('contacts', contact.id);
    expect(await linked()).toEqual([{ ...before[0], supervisor: null }]);
  });

  test('restores emails, so that they find the contact and stay unique; 409 if one is taken', async () => {
    const [email, other] = [uniqueEmail(), uniqueEmail()];
    const { id } = await api.create('contacts', { email, alt_emails: [other] });
    await restored('contacts', id);
    for (const one of [email, other])
      expect(await api.ids(`/contacts?email=${one.toUpperCase()}`)).toEqual([id]);
    expectError(await api.post('/contacts', { email: other }), 409, 'RESOURCE_CONFLICT', 'email');
    await api.del(`/contacts/${id}`);
    const taken = await api.create('contacts', { email: other.toUpperCase() });
    const reply = await undelete('contacts', id);
    expectError(reply, 409, 'RESOURCE_CONFLICT', 'alt_emails.0');
    expect(reply.body.error.details[0].existing_id).toBe(taken.id);
    expect(reply.headers.get('Location')).toEndWith(`/api/v2/contacts/${taken.id}`);
    await api.del(`/contacts/${taken.id}`);
    expect((await undelete('contacts', id)).status).toBe(200);
    expectError(await undelete('contacts', taken.id), 409, 'RESOURCE_CONFLICT', 'email');
  });

  test('of a company whose domain is taken returns 409', async () => {
    const { id } = await api.create('companies', { domain: 'taken.example' });
    await api.del(`/companies/${id}`);
    await api.create('companies', { domain: 'www.taken.example' });
    expectError(await undelete('companies', id), 409, 'RESOURCE_CONFLICT', 'domain');
  });

  test('restores the external IDs that are free', async () => {
    const { id } = await api.create('tasks', { name: 'T' });
    for (const source of ['a', 'b']) await api.post(`/tasks/${id}/external_ids`, { source, id: '1' });
    const [b, a] = await api.list(`/tasks/${id}/external_ids`);
    harness.clock.now += 1_000;
    await api.del(`/tasks/${id}`);
    const other = await api.create('tasks', { name: 'Other' });
    await api.post(`/tasks/${other.id}/external_ids`, { source: 'b', id: '1' });
    await undelete('tasks', id);
    expect(await api.list(`/tasks/${id}/external_ids`)).toEqual([a]);
    expect(b?.source).toBe('b');
    expect(await api.ids('/tasks?external_id=a:1')).toEqual([id]);
    expect(await api.ids('/tasks?external_id=b:1')).toEqual([other.id]);
  });

  test('restores who took part in interactions, and when the last one was', async () => {
    const company = await api.create('companies');
    const [contact, other] = [
      await api.create('contacts', { first_name: 'A', company_id: company.id }),
      await api.create('contacts'),
    ];
    const said = { type: 'EMAIL', direction: 'INBOUND', title: 'T', interaction_date: 1_000 };
    const made = [
      await api.create('interactions', { ...said, main_contact: contact.id, contact_ids: [other.id] }),
      await api.create('interactions', { ...said, main_contact: other.id, contact_ids: [contact.id] }),
    ];
    const interactions = () => Promise.all(made.map(({ id }) => api.fetch('interactions', id)));
    const before = await interactions();
    for (const [name, id] of [
      ['contacts', contact.id],
      ['companies', company.id],
    ] as const) {
      const { last_interaction_at } = await api.fetch(name, id);
      expect((await restored(name, id)).last_interaction_at).toBe(last_interaction_at);
      expect((await interactions()).map(without)).toEqual(before.map(without));
    }
    expect(await api.ids(`/interactions?contact_id=${contact.id}`)).toHaveLength(2);
  });

  test('of a note restores its place in the tree, but closes no cycle', async () => {
    const root = await api.create('notes', { title: 'root' });
    const middle = await api.create('notes', { title: 'middle', parent_id: root.id });
    const leaves = [
      await api.create('notes', { title: 'a', parent_id: middle.id }),
      await api.create('notes', { title: 'b', parent_id: middle.id }),
    ];
    const parents = async () =>
      Promise.all([root, middle, ...leaves].map(async ({ id }) => (await api.fetch('notes', id)).parent_id));
    await restored('notes', middle.id);
    expect(await parents()).toEqual([null, root.id, middle.id, middle.id]);
    await api.del(`/notes/${middle.id}`);
    await api.update('notes', root.id, { parent_id: leaves[0]?.id });
    await undelete('notes', middle.id);
    expect(await parents()).toEqual([leaves[0]?.id, null, middle.id, middle.id]);
  });

  test('of a note makes no tree deeper than 100 levels', async () => {
    const chain = async (length: number, top: string | null = null): Promise<string[]> => {
      const ids: string[] = [];
      for (let level = 0; level < length; level++)
        ids.push((await api.create('notes', { title: 'N', parent_id: ids.at(-1) ?? top })).id);
      return ids;
    };
    const [top = '', joint = '', under = ''] = await chain(3);
    await api.del(`/notes/${joint}`);
    const lower = await chain(98, under);
    const refused = await undelete('notes', joint);
    expectError(refused, 422, 'VALIDATION_OUT_OF_RANGE', 'parent_id');
    expect(refused.body.error.message).toContain(
      'would put the note on level 2, with 99 levels of notes below it',
    );
    // What was put elsewhere in the meantime does not come back below it.
    await api.update('notes', under, { parent_id: top });
    expect((await undelete('notes', joint)).status).toBe(200);
    expect((await api.patch(`/notes/${under}`, { parent_id: joint })).status).toBe(422);
    await api.del(`/notes/${lower.at(-1)}`);
    expect((await api.patch(`/notes/${under}`, { parent_id: joint })).status).toBe(200);
    // The last one, whose parent is on level 100 now.
    expectError(await undelete('notes', lower.at(-1) ?? ''), 422, 'VALIDATION_OUT_OF_RANGE', 'parent_id');
    await api.del(`/notes/${joint}`);
    expect((await undelete('notes', joint)).status).toBe(200);
    expect(await api.fetch('notes', under)).toMatchObject({ parent_id: joint });
  });

  test('of a deal needs its stage, whose type it follows', async () => {
    const { id: pipeline, stages } = await api.create('pipelines', { name: 'P', stages: [{ name: 'S' }] });
    const deal = await api.create('deals', { name: 'D', pipeline_id: pipeline });
    await api.del(`/deals/${deal.id}`);
    await api.update('pipelines', pipeline, { stages: [{ ...stages[0], type: 'won' }] });
    const { body } = await undelete('deals', deal.id);
    expect(body.data).toMatchObject({
      status: 'won',
      closed_at: body.data.updated_at,
      stage_id: stages[0].id,
    });
    expect(body.data.stage_changed_at).toBe(deal.stage_changed_at);
    await api.del(`/deals/${deal.id}`);
    await api.del(`/pipelines/${pipeline}`);
    const refused = await undelete('deals', deal.id);
    expectError(refused, 409, 'RESOURCE_CONFLICT', 'pipeline_id');
    expect(refused.body.error.message).toContain('undelete it first');
    await undelete('pipelines', pipeline);
    expect((await undelete('deals', deal.id)).body.data).toMatchObject({
      pipeline_id: pipeline,
      status: 'won',
    });
    await api.del(`/deals/${deal.id}`);
    await api.update('pipelines', pipeline, { stages: [{ name: 'Other' }] });
    expectError(await undelete('deals', deal.id), 409, 'RESOURCE_CONFLICT', 'stage_id');
  });

  test('is written in the audit log', async () => {
    const { id } = await restored('tasks', (await api.create('tasks', { name: 'T' })).id);
    const [entry] = await listAudit(harness.store.read, { action: 'record.undeleted', limit: 1 });
    expect(entry).toMatchObject({ actor_type: 'key', target_type: 'tasks', target_id: id });
  });
});

describe('nothing is restored', () => {
  const expectNone = async (resource: string, id: string, client = api) =>
    expectError(await undelete(resource, id, client), 404, 'RESOURCE_NOT_FOUND');

  test('of what exists, never existed, or was undeleted already', async () => {
    const { id } = await api.create('tasks', { name: 'T' });
    await expectNone('tasks', id);
    await expectNone('tasks', ABSENT);
    await expectNone('notes', id);
    await restored('tasks', id);
    await expectNone('tasks', id);
    // The last delete counts.
    await api.update('tasks', id, { name: 'Later' });
    expect((await restored('tasks', id)).name).toBe('Later');
  });

  test('of another organization, and for a user-bound key of another user', async () => {
    const { alice, bob, otherOrgNumber } = harness;
    const { id } = await api.create('companies', { name: 'C', owner_id: alice });
    await api.del(`/companies/${id}`);
    await expectNone('companies', id, await api.withKey({ orgNumber: otherOrgNumber }));
    await expectNone('companies', id, await api.withKey({ userId: bob }));
    const owner = await api.withKey({ userId: alice });
    expect((await undelete('companies', id, owner)).body.data).toMatchObject({ id, owner_id: alice });
  });

  test('without the scope, of a pipeline by a user-bound key, and where changes are not kept', async () => {
    const { id } = await api.create('pipelines', { name: 'P' });
    await api.del(`/pipelines/${id}`);
    const scopes = ['pipelines:read', 'pipelines:delete'];
    expectError(
      await undelete('pipelines', id, await api.withKey({ scopes })),
      403,
      'AUTH_INSUFFICIENT_SCOPE',
    );
    const bound = await api.withKey({ userId: harness.alice });
    expectError(await undelete('pipelines', id, bound), 403, 'OPERATION_FORBIDDEN');
    const keep = (days: number) => harness.store.write('accounts', (trx) => setChangesDays(trx, days));
    const unlogged = await api.create('tasks', { name: 'T' });
    await keep(0);
    await expectNone('pipelines', id);
    await api.del(`/tasks/${unlogged.id}`);
    await keep(30);
    await expectNone('pipelines', id);
    await expectNone('tasks', unlogged.id);
  });

  test('by a dry run, which answers as it would; an idempotency key replays', async () => {
    const { id } = await api.create('tasks', { name: 'T' });
    await api.del(`/tasks/${id}`);
    const send = (headers: Record<string, string>) =>
      harness.send('POST', `/api/v2/tasks/${id}/undelete`, { headers });
    const { head } = (await api.get('/changes?start=now')).body.page_info;
    const tried = await send({ 'Dry-Run': 'true' });
    expect([tried.status, tried.body.data.id]).toEqual([200, id]);
    expect((await api.get(`/tasks/${id}`)).status).toBe(404);
    expect((await api.get('/changes?start=now')).body.page_info.head).toBe(head);
    const first = await send({ 'Idempotency-Key': 'back' });
    const again = await send({ 'Idempotency-Key': 'back' });
    expect([first.status, again.status, again.text]).toEqual([200, 200, first.text]);
    expect(again.headers.get('Idempotent-Replayed')).toBe('true');
  });
});

test('of several concurrent undeletes one succeeds', async () => {
  const { id } = await api.create('contacts', { email: uniqueEmail() });
  await api.del(`/contacts/${id}`);
  const replies = await Promise.all(Array.from({ length: 5 }, () => undelete('contacts', id)));
  expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 404, 404, 404, 404]);
});

test('deletes and undeletes that are sent at once never restore an older state', async () => {
  const { id } = await api.create('tasks', { name: '0' });
  await restored('tasks', id);
  for (let round = 1; round <= 5; round++) {
    await api.update('tasks', id, { name: String(round) });
    const replies = await Promise.all([
      api.del(`/tasks/${id}`),
      undelete('tasks', id),
      undelete('tasks', ABSENT),
    ]);
    if (replies[1]?.status !== 200) await undelete('tasks', id);
    expect((await api.fetch('tasks', id)).name).toBe(String(round));
  }
});

test('thousands of references and links come back, and a copy that follows the feed is exact', async () => {
  const own = await startHarness();
  const client = clientOf(own);
  const company = await client.create('companies');
  const mirror = new ChangeMirror(client, false);
  const rows = Array.from({ length: 100 }, () => ({ first_name: 'A', company_id: company.id }));
  const ids: string[] = [];
  // More than are changed, and restored, at once.
  for (let count = 0; count < 11; count++) {
    own.clock.now += 60_000;
    const { items } = await client.batch('/contacts/batch', rows);
    ids.push(...items.map(({ data }: Json) => data.id));
    const segment = await client.create('segments', { name: 'S', record_type: 'company' });
    await client.post(`/segments/${segment.id}/members`, { record_id: company.id });
  }
  await mirror.copy({
    records: (name) => client.all(`/${name}`),
    links: (kind) => client.all(`/links?of=${kind}`),
  });
  await restored('companies', company.id, client);
  expect(await client.all(`/contacts?company_id=${company.id}`)).toHaveLength(ids.length);
  await mirror.follow();
  await mirror.expectSame({
    records: (name) => client.all(`/${name}`),
    links: (kind) => client.all(`/links?of=${kind}`),
  });
  await own.close();
}, 300_000);

test('of records that were deleted together gives links back their supervisor', async () => {
  const [deal, contact, boss] = [
    await api.create('deals'),
    await api.create('contacts'),
    await api.create('contacts'),
  ];
  for (const { id } of [contact, boss])
    await api.post(`/deals/${deal.id}/contacts`, { contact_id: id, supervisor: boss.id });
  const linked = () => api.list('/links?of=deals.contacts&limit=2');
  const before = await linked();
  for (const ids of [
    [boss.id, contact.id],
    [contact.id, boss.id],
  ]) {
    await api.batch('/contacts/batch/delete', ids);
    for (const id of [boss.id, contact.id]) await undelete('contacts', id);
    expect(await linked()).toEqual(before);
  }
});

test('quotas count what comes back, and refuse it where there is no room', async () => {
  const own = await startHarness();
  const client = clientOf(own);
  await setQuota(own, { records: 3 });
  const { id } = await client.create('contacts', { email: 'a@x.example', remarks: 'long'.repeat(50) });
  await client.post(`/contacts/${id}/external_ids`, { source: 'a', id: '1' });
  await client.create('contacts');
  expect((await client.post('/contacts', { first_name: 'B' })).status).toBe(403);
  await client.del(`/contacts/${id}`);
  const other = await client.create('contacts');
  expectError(await undelete('contacts', id, client), 403, 'OPERATION_FORBIDDEN', 'quota.records');
  await client.del(`/contacts/${other.id}`);
  expect((await undelete('contacts', id, client)).status).toBe(200);
  expect(await countedIn(own)).toEqual(await recordTotalsOf(own));
  await own.close();
});

test('an erased record does not come back', async () => {
  const email = uniqueEmail();
  const { id } = await api.create('contacts', { email });
  await api.del(`/contacts/${id}`);
  const { store, orgNumber } = harness;
  const person = await findPerson(store.read, orgNumber, email);
  await erasePerson(store, person, { isDryRun: false, onProgress: () => {}, finish: async () => {} });
  expectError(await undelete('contacts', id), 404, 'RESOURCE_NOT_FOUND');
  expect((await api.get(`/contacts/${id}/history`)).body.data).toMatchObject([
    { action: 'deleted', before: null },
    { action: 'created' },
  ]);
});
