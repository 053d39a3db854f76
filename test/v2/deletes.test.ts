// What deletes leave behind, generated from the declarations: every reference to a deleted record becomes null.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import { CHANGEABLE, READ_ONLY } from '../support/contract.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { insertReadOnly } from '../support/read-only.ts';
import { type Client, clientOf, expectMissing, minimalBody } from '../support/v2.ts';

let harness: Harness;
let api: Client;

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

interface Reference {
  from: string;
  field: string;
  to: string;
}

const REFERENCES: Reference[] = RESOURCES.flatMap(({ name, fields }) =>
  Object.entries(fields).flatMap(([field, { references: to = '', column }]) =>
    column !== null && CHANGEABLE.includes(to) && to !== 'pipelines' ? [{ from: name, field, to }] : [],
  ),
);

async function makeReferring({ from, field }: Reference, id: string): Promise<string> {
  if (READ_ONLY.includes(from)) return insertReadOnly(harness, from, { [field]: id });
  const { main_contact_email: _, ...body } = minimalBody(from);
  return (await api.create(from, { ...body, [field]: id })).id;
}

test('the references are those of the contract', () => {
  expect(REFERENCES.map(({ from, field }) => `${from}.${field}`).sort()).toEqual(
    [
      'contacts.company_id',
      'deals.company_id',
      'deals.point_of_contact_id',
      'interactions.main_contact',
      'meetings.company_id',
      'meetings.deal_id',
      'notes.parent_id',
      'tasks.company_id',
      'tasks.deal_id',
      'tasks.person_id',
    ].sort(),
  );
});

describe('a reference', () => {
  for (const reference of REFERENCES) {
    const { from, field, to } = reference;
    test(`${from}.${field} becomes null with the delete, and nothing else of the record`, async () => {
      const [gone, kept] = [await api.create(to), await api.create(to)];
      const referring = await api.fetch(from, await makeReferring(reference, gone.id));
      const other = await makeReferring(reference, kept.id);
      expect(referring[field]).toBe(gone.id);
      expect((await api.del(`/${to}/${gone.id}`)).status).toBe(204);
      const after = await api.fetch(from, referring.id);
      expect(after).toEqual({ ...after, ...referring, [field]: null, ...withoutLinks(from, after) });
      expect((await api.fetch(from, other))[field]).toBe(kept.id);
    });
  }
});

// What an interaction shows beside its main contact follows from that contact.
function withoutLinks(from: string, after: Record<string, unknown>): object {
  const moved = { updated_at: after.updated_at };
  return from === 'interactions' ? { ...moved, contact_ids: [] } : moved;
}

test('a record that many refer to is deleted from all at once', async () => {
  const contact = await api.create('contacts', { first_name: 'A', email: 'gone@mail.example' });
  const deal = await api.create('deals', { name: 'D', point_of_contact_id: contact.id });
  await api.post(`/deals/${deal.id}/contacts`, { contact_id: contact.id, supervisor: contact.id });
  const note = await api.create('notes');
  await api.post(`/notes/${note.id}/records`, { record_type: 'contact', record_id: contact.id });
  await api.post(`/notes/${note.id}/records`, { record_type: 'deal', record_id: deal.id });
  const segment = await api.create('segments');
  await api.post(`/segments/${segment.id}/members`, { record_id: contact.id });
  const task = await api.create('tasks', { name: 'T', person_id: contact.id, deal_id: deal.id });
  await api.del(`/contacts/${contact.id}`);
  expectMissing(await api.get(`/contacts/${contact.id}`));
  expect(await api.list(`/deals/${deal.id}/contacts`)).toEqual([]);
  expect(await api.list(`/notes/${note.id}/records`)).toHaveLength(1);
  expect((await api.fetch('segments', segment.id)).member_count).toBe(0);
  expect(await api.fetch('tasks', task.id)).toMatchObject({ person_id: null, deal_id: deal.id });
  for (const path of ['/contacts?email=gone@mail.example', `/deals?contact_id=${contact.id}`])
    expect(await api.list(path)).toEqual([]);
  await api.del(`/deals/${deal.id}`);
  expect(await api.list(`/notes/${note.id}/records`)).toEqual([]);
  expect((await api.fetch('tasks', task.id)).deal_id).toBeNull();
});

test('what more than a thousand records refer to leaves none of them behind', async () => {
  const [company, other] = [await api.create('companies'), await api.create('companies')];
  const segment = await api.create('segments');
  const person = { first_name: 'A', company_id: company.id };
  for (let batch = 0; batch < 11; batch++) {
    const { items } = (await api.post('/contacts/batch', Array(100).fill(person))).body.data;
    for (const { data } of items) await api.post(`/segments/${segment.id}/members`, { record_id: data.id });
  }
  const kept = await api.create('contacts', { ...person, company_id: other.id });
  expect((await api.fetch('segments', segment.id)).member_count).toBe(1_100);
  expect((await api.del(`/companies/${company.id}`)).status).toBe(204);
  expect((await api.del(`/segments/${segment.id}`)).status).toBe(204);
  const stored = harness.store.read.selectFrom('contacts' as 'records').select('id');
  const bound = await stored.where('company_id', 'is not', null).where('first_name', '=', 'A').execute();
  expect(bound.map(({ id }) => id)).toEqual([kept.id]);
  const links = harness.store.read.selectFrom('segment_members' as 'links').select('created_at');
  expect(await links.where('segment_id', '=', segment.id).execute()).toEqual([]);
});
