// Records of every resource that filters tell apart, each under a name.
import type { Harness, Json } from './harness.ts';
import { insertReadOnly } from './read-only.ts';
import type { Client } from './v2.ts';

/** The moment around which records are dated. */
export const T = Date.parse('2026-03-01T12:00:00.000Z');
const BASE = { type: 'EMAIL', direction: 'INBOUND', title: 'Hello' };

interface Making {
  harness: Harness;
  api: Client;
  ids: Record<string, string>;
  make(name: string, resource: string, body: Json): Promise<void>;
  insert(name: string, resource: string, fields: Json): Promise<void>;
}

/** Makes the records; gives the id of each by its name. */
export async function makeNamedRecords(harness: Harness, api: Client): Promise<Record<string, string>> {
  const ids: Record<string, string> = {};
  const making: Making = {
    harness,
    api,
    ids,
    make: async (name, resource, body) => {
      ids[name] = (await api.create(resource, body)).id;
    },
    insert: async (name, resource, fields) => {
      ids[name] = await insertReadOnly(harness, resource, fields);
    },
  };
  await makePeople(making);
  await makeDeals(making);
  await makeActivities(making);
  await makeCalendar(making);
  return ids;
}

async function makePeople({ harness, api, ids, make }: Making): Promise<void> {
  const { alice, bob } = harness;
  await make('acme', 'companies', { name: 'Acme', domain: 'acme.example', owner_id: alice });
  await make('ACME', 'companies', { name: 'ACME', owner_id: bob });
  await make('acme2', 'companies', { name: 'Acme 2', domain: 'shop.acme.example' });
  await make('ada', 'contacts', {
    email: 'ada@x.example',
    alt_emails: ['ada@y.example'],
    phone: '+44 1',
    company_id: ids.acme,
    owner_id: alice,
  });
  await make('bob', 'contacts', {
    email: 'bob@x.example',
    phone: '+44 2',
    personal_phone: '+44 1',
    company_id: ids.acme,
  });
  await make('cyd', 'contacts', { first_name: 'Cyd', owner_id: alice });
  await make('people', 'segments', { name: 'P' });
  await make('firms', 'segments', { name: 'F', record_type: 'company' });
  for (const name of ['ada', 'cyd'])
    await api.post(`/segments/${ids.people}/members`, { record_id: ids[name] });
  await api.post(`/segments/${ids.firms}/members`, { record_id: ids.acme });
}

async function makeDeals({ harness, api, ids, make }: Making): Promise<void> {
  const [sales] = await api.list('/pipelines');
  ids.sales = sales.id;
  ids.discovery = sales.stages[1].id;
  ids.won = sales.stages[4].id;
  harness.clock.now += 1;
  const partners = await api.create('pipelines', { name: 'Partners' });
  ids.partners = partners.id;
  const { alice } = harness;
  await make('big', 'deals', { name: 'Big', stage_id: ids.won, company_id: ids.acme, owner_id: alice });
  await make('own', 'deals', { name: 'Own', point_of_contact_id: ids.ada, stage_id: ids.discovery });
  await make('linked', 'deals', { name: 'Linked', pipeline_id: partners.id, owner_id: alice });
  await api.post(`/deals/${ids.linked}/contacts`, { contact_id: ids.ada, supervisor: ids.bob });
  await api.post(`/deals/${ids.linked}/companies`, { company_id: ids.acme });
  await api.post(`/deals/${ids.own}/contacts`, { contact_id: ids.ada });
}

async function makeActivities({ harness, api, ids, make }: Making): Promise<void> {
  const { alice } = harness;
  await make('call', 'tasks', { name: 'C', done: true, due_date: T, person_id: ids.ada, deal_id: ids.big });
  await make('mail', 'tasks', { name: 'M', due_date: T + 1, company_id: ids.acme, main_assignee_id: alice });
  await make('none', 'tasks', { name: 'N' });
  await make('top', 'notes', { title: 'T', is_archived: true });
  await make('under', 'notes', { title: 'U', parent_id: ids.top });
  await api.post(`/notes/${ids.top}/records`, { record_type: 'contact', record_id: ids.ada });
  await api.post(`/notes/${ids.under}/records`, { record_type: 'contact', record_id: ids.ada });
  await api.post(`/notes/${ids.under}/records`, { record_type: 'deal', record_id: ids.big });
  await make('hello', 'interactions', { ...BASE, main_contact: ids.ada });
  await make('memo', 'interactions', { ...BASE, type: 'MEMO', main_contact: ids.cyd });
  await make('reply', 'interactions', { ...BASE, direction: 'OUTBOUND', main_contact: ids.bob });
}

async function makeCalendar({ ids, insert }: Making): Promise<void> {
  await insert('kickoff', 'meetings', { start_time: T, deal_id: ids.big });
  await insert('review', 'meetings', { start_time: T + 1, company_id: ids.acme, deal_id: ids.own });
  await insert('undated', 'meetings', {});
  await insert('taped', 'recordings', { meeting_id: ids.kickoff, has_transcript: true });
  await insert('silent', 'recordings', { meeting_id: ids.review, has_transcript: false });
  const attendee = { name: 'Ada', email: 'Ada@X.example' };
  await insert('intro', 'bookings', { status: 'booked', start_time: T, attendee });
  await insert('moved', 'bookings', { status: 'rescheduled', start_time: T + 1 });
  await insert('off', 'bookings', { status: 'cancelled', start_time: T - 1, attendee });
}
