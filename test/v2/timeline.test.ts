// The timelines of contacts, companies and deals: what shows where, when, and with which detail.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { insertReadOnly } from '../support/read-only.ts';
import {
  ABSENT,
  type Client,
  clientOf,
  expectError,
  expectFault,
  expectMissing,
  uniqueEmail,
} from '../support/v2.ts';

let harness: Harness;
let api: Client;
beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

const timeline = (path: string, query = '', client = api): Promise<Json[]> =>
  client.list(`/${path}/timeline${query}`);
/** Kinds and titles, in order. */
const shown = async (path: string, query = '', client = api): Promise<string[]> =>
  (await timeline(path, query, client)).map(({ kind, title }) => `${kind} ${title}`);
const noChanges =
  '?kinds=interaction&kinds=meeting&kinds=booking&kinds=note&kinds=task&kinds=deal&kinds=stage';

let company: Json;
let ada: Json;
let email: string;
beforeEach(async () => {
  company = await api.create('companies', { name: 'Engines' });
  email = uniqueEmail();
  ada = await api.create('contacts', {
    first_name: 'Ada',
    last_name: 'Lovelace',
    email,
    company_id: company.id,
  });
});

const noteAbout = async (record_type: string, record_id: string, title: string): Promise<Json> => {
  const note = await api.create('notes', { title });
  await api.post(`/notes/${note.id}/records`, { record_type, record_id });
  return note;
};
const email1 = (title: string, more: Json) =>
  api.create('interactions', { type: 'EMAIL', direction: 'INBOUND', title, ...more });
const meetingWith = (address: string, title: string, more: Json = {}) =>
  insertReadOnly(harness, 'meetings', {
    ...{
      title,
      start_time: harness.clock.now,
      attendees: [{ name: null, email: address, contact_id: null }],
    },
    ...more,
  });

describe('what shows', () => {
  test('on a contact: everything that names it, newest first, with the record as lists show it', async () => {
    const start = harness.clock.now + 60_000;
    await email1('Mail', { main_contact: ada.id, interaction_date: 1_000 });
    const note = await noteAbout('contact', ada.id, 'Note');
    const deal = await api.create('deals', { name: 'Deal', point_of_contact_id: ada.id });
    const task = await api.create('tasks', { name: 'Task', person_id: ada.id, done: true });
    const meeting = await meetingWith(email.toUpperCase(), 'Meeting', { start_time: start });
    const recording = await insertReadOnly(harness, 'recordings', { meeting_id: meeting });
    const attendee = { name: null, email, contact_id: null };
    await insertReadOnly(harness, 'bookings', { title: 'Booking', start_time: start + 1, attendee });
    await api.update('contacts', ada.id, { title: 'CTO' });
    const items = await timeline(`contacts/${ada.id}`);
    expect(items.map(({ kind, title, detail }) => ({ kind, title, detail }))).toEqual([
      { kind: 'booking', title: 'Booking', detail: null },
      { kind: 'meeting', title: 'Meeting', detail: { recording_ids: [recording] } },
      { kind: 'change', title: 'Ada Lovelace', detail: { before: { title: null }, after: { title: 'CTO' } } },
      { kind: 'task', title: 'Task', detail: { is_done: true } },
      { kind: 'task', title: 'Task', detail: null },
      { kind: 'deal', title: 'Deal', detail: null },
      { kind: 'note', title: 'Note', detail: null },
      { kind: 'interaction', title: 'Mail', detail: null },
    ]);
    const [, , change, done, , dealt, noted, mail] = items;
    expect(change).toMatchObject({ record_type: 'contacts', record_id: ada.id });
    expect(done).toMatchObject({ at: task.done_at, record_type: 'tasks', record: task });
    expect(dealt).toMatchObject({ at: deal.created_at, record_type: 'deals', record: deal });
    expect(noted).toMatchObject({ at: note.created_at, record_id: note.id, record: note });
    expect(mail.at).toBe('1970-01-01T00:00:01.000Z');
  });

  test('on a company: its own, and what was written to its contacts and deals while they were its', async () => {
    const { id } = company;
    await noteAbout('company', id, 'Own');
    await noteAbout('contact', ada.id, 'To Ada');
    const deal = await api.create('deals', { name: 'Deal', company_id: id });
    await noteAbout('deal', deal.id, 'To the deal');
    const other = await api.create('companies', { name: 'Other' });
    await api.update('contacts', ada.id, { company_id: other.id });
    await noteAbout('contact', ada.id, 'Later');
    expect(await shown(`companies/${id}`, '?scope=own')).toEqual(['deal Deal', 'note Own']);
    const all = ['change Ada Lovelace', 'note To the deal', 'deal Deal', 'note To Ada', 'note Own'];
    expect(await shown(`companies/${id}`)).toEqual(all);
    expect(await shown(`companies/${id}`, '?scope=all')).toEqual(all);
    expect(await shown(`companies/${other.id}`)).toEqual(['note Later']);
  });

  test('on a deal: its creation, its stages with the names that they had, and what is about it', async () => {
    const pipeline = await api.create('pipelines', {
      name: 'P',
      stages: [{ name: 'First' }, { name: 'Second' }],
    });
    const deal = await api.create('deals', {
      name: 'Deal',
      pipeline_id: pipeline.id,
      company_id: company.id,
    });
    await api.post(`/deals/${deal.id}/contacts`, { contact_id: ada.id });
    const [first, second] = pipeline.stages;
    const moved = await api.update('deals', deal.id, { stage_id: second.id });
    await api.update('pipelines', pipeline.id, { stages: [first, { ...second, name: 'Renamed' }] });
    const [stage] = await timeline(`deals/${deal.id}`, '?kinds=stage');
    const detail = { from: 'First', to: 'Second' };
    expect(stage).toEqual({
      ...{ at: moved.stage_changed_at, kind: 'stage', record_type: 'deals', record_id: deal.id },
      ...{ title: 'Deal', detail, record: moved },
    });
    await meetingWith(uniqueEmail(), 'Meeting', { deal_id: deal.id });
    await api.create('tasks', { name: 'Task', deal_id: deal.id });
    const kinds = (await timeline(`deals/${deal.id}`)).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(['change', 'deal', 'meeting', 'stage', 'task']);
    for (const path of [`contacts/${ada.id}`, `companies/${company.id}`])
      expect(await timeline(path, '?kinds=stage')).toEqual([stage]);
  });

  test('once, however it is tied', async () => {
    const { id } = company;
    const deal = await api.create('deals', { name: 'Deal', company_id: id, point_of_contact_id: ada.id });
    await api.post(`/deals/${deal.id}/companies`, { company_id: id });
    await api.post(`/deals/${deal.id}/contacts`, { contact_id: ada.id });
    await email1('Mail', { main_contact: ada.id, company_ids: [id] });
    const meeting = await meetingWith(email, 'Meeting', { deal_id: deal.id, company_id: id });
    await api.update('contacts', ada.id, { alt_emails: [uniqueEmail()] });
    expect(await shown(`companies/${id}`, noChanges)).toEqual([
      'meeting Meeting',
      'interaction Mail',
      'deal Deal',
    ]);
    expect((await api.all(`/companies/${id}/timeline${noChanges}`, 1)).map(({ kind }) => kind)).toEqual([
      'meeting',
      'interaction',
      'deal',
    ]);
    // One of the ties goes.
    await api.update('deals', deal.id, { company_id: null, point_of_contact_id: null });
    await api.del(`/meetings/${meeting}/company`);
    for (const path of [`companies/${id}`, `contacts/${ada.id}`])
      expect(await shown(path, '?kinds=deal&kinds=meeting')).toEqual(['meeting Meeting', 'deal Deal']);
  });

  test('of people in calendars: by all addresses of a contact, whenever it got them', async () => {
    const [first, second] = [uniqueEmail(), uniqueEmail()];
    await meetingWith(first, 'First');
    await meetingWith(uniqueEmail(), 'Led', { organizer: { name: null, email: second } });
    const { id } = await api.create('contacts', { first_name: 'Late', email: first });
    expect(await shown(`contacts/${id}`, noChanges)).toEqual(['meeting First']);
    await api.update('contacts', id, { alt_emails: [second] });
    expect(await shown(`contacts/${id}`, noChanges)).toEqual(['meeting Led', 'meeting First']);
    await api.update('contacts', id, { email: null });
    expect(await shown(`contacts/${id}`, noChanges)).toEqual(['meeting Led']);
  });
});

describe('what goes', () => {
  test('with a link, a reference or the end of a task, and comes back as new', async () => {
    const task = await api.create('tasks', { name: 'Task', person_id: ada.id, done: true });
    const note = await noteAbout('contact', ada.id, 'Note');
    expect(await shown(`companies/${company.id}`)).toEqual(['note Note', 'task Task', 'task Task']);
    await api.del(`/notes/${note.id}/records/${ada.id}`);
    await api.update('tasks', task.id, { done: false });
    expect(await shown(`companies/${company.id}`)).toEqual(['task Task']);
    await api.update('tasks', task.id, { person_id: null });
    for (const path of [`companies/${company.id}`, `contacts/${ada.id}`])
      expect(await shown(path)).toEqual([]);
    const other = await api.create('companies', { name: 'Other' });
    await api.update('contacts', ada.id, { company_id: other.id });
    await api.post(`/notes/${note.id}/records`, { record_type: 'contact', record_id: ada.id });
    await api.update('tasks', task.id, { person_id: ada.id });
    expect(await shown(`companies/${company.id}`, noChanges)).toEqual([]);
    expect(await shown(`companies/${other.id}`)).toEqual(['note Note', 'task Task']);
  });

  test('with a record, and comes back with an undelete where it was', async () => {
    const deal = await api.create('deals', { name: 'Deal', point_of_contact_id: ada.id });
    const note = await noteAbout('contact', ada.id, 'Note');
    const task = await api.create('tasks', { name: 'Task', person_id: ada.id });
    await email1('Mail', { main_contact: ada.id, company_ids: [] });
    const other = await api.create('companies', { name: 'Other' });
    await api.update('contacts', ada.id, { company_id: other.id });
    const paths = [`contacts/${ada.id}`, `companies/${company.id}`, `companies/${other.id}`];
    const before = await Promise.all(paths.map((path) => shown(path)));
    expect(before[1]).toEqual([
      'change Ada Lovelace',
      'interaction Mail',
      'task Task',
      'note Note',
      'deal Deal',
    ]);
    const records = [
      ['contacts', ada.id],
      ['notes', note.id],
      ['tasks', task.id],
      ['deals', deal.id],
    ];
    for (const [resource, id] of records) {
      await api.del(`/${resource}/${id}`);
      expect(await shown(`companies/${company.id}`)).not.toEqual(before[1]);
      expect((await api.post(`/${resource}/${id}/undelete`)).status).toBe(200);
      expect(await Promise.all(paths.map((path) => shown(path)))).toEqual(before);
    }
    await api.del(`/contacts/${ada.id}`);
    expectMissing(await api.get(`/contacts/${ada.id}/timeline`));
    expect(await shown(`companies/${company.id}`)).toEqual(['interaction Mail']);
  });
});

describe('a page', () => {
  test('has kinds, instants and a place of its own', async () => {
    const path = `contacts/${ada.id}`;
    for (let at = 0; at < 7; at++)
      await email1(String(at), { main_contact: ada.id, interaction_date: at * 1_000 });
    await api.create('tasks', { name: 'Task', person_id: ada.id });
    const titles = async (query: string) => (await timeline(path, query)).map(({ title }) => title);
    expect(await titles('?kinds=interaction&since=2000&until=1970-01-01T00:00:05Z')).toEqual(['4', '3', '2']);
    expect(await titles('?kinds=task&kinds=note')).toEqual(['Task']);
    const all = await timeline(path);
    for (const limit of [1, 3, 8]) expect(await api.all(`/${path}/timeline`, limit)).toEqual(all);
    const { end_cursor } = (await api.get(`/${path}/timeline?limit=2`)).body.page_info;
    const some = (await api.get(`/${path}/timeline?limit=2&kinds=interaction&kinds=task`)).body.page_info;
    const rest = `/${path}/timeline?kinds=task&kinds=interaction&kinds=task&cursor=${some.end_cursor}`;
    expect((await api.get(rest)).body.data).toEqual(all.slice(2));
    const other = await api.create('contacts');
    for (const refused of [
      `${path}/timeline?kinds=task`,
      `contacts/${other.id}/timeline?`,
      `${path}/history?`,
    ])
      expectFault(await api.get(`/${refused}&cursor=${end_cursor}`), 'VALIDATION_INVALID_FORMAT', 'cursor');
  });

  test('is refused with other parameters, and without its record', async () => {
    const path = `/contacts/${ada.id}/timeline`;
    expectFault(await api.get(`${path}?kinds=email`), 'VALIDATION_FAILED', 'kinds');
    expectFault(await api.get(`${path}?scope=all`), 'VALIDATION_FAILED', 'scope');
    expectFault(await api.get(`/companies/${company.id}/timeline?scope=some`), 'VALIDATION_FAILED', 'scope');
    expectFault(await api.get(`${path}?since=soon`), 'VALIDATION_INVALID_FORMAT', 'since');
    expectMissing(await api.get(`/contacts/${ABSENT}/timeline`));
    expectMissing(await api.get(`/deals/${ada.id}/timeline`));
  });
});

describe('a key', () => {
  test('sees the kinds that it can read, and is refused the others by name', async () => {
    await noteAbout('contact', ada.id, 'Note');
    await api.create('tasks', { name: 'Task', company_id: company.id });
    const few = await api.withKey({ scopes: ['companies:read', 'tasks:read', 'notes:read'] });
    expect(await shown(`companies/${company.id}`, '', few)).toEqual(['task Task']);
    const refused = await few.get(`/companies/${company.id}/timeline?kinds=task&kinds=stage`);
    expectError(refused, 403, 'AUTH_INSUFFICIENT_SCOPE');
    expectError(await few.get(`/contacts/${ada.id}/timeline`), 403, 'AUTH_INSUFFICIENT_SCOPE');
  });

  test('of a user sees what is its own, of changes what it saw then, and no more through what it does not see', async () => {
    const { alice, bob } = harness;
    const own = await api.withKey({ userId: alice });
    const firm = await own.create('companies', { name: 'Firm' });
    const person = await api.create('contacts', { first_name: 'P', company_id: firm.id, owner_id: bob });
    await api.update('contacts', person.id, { title: 'Hidden' });
    await noteAbout('company', firm.id, "The organization's");
    const note = await own.create('notes', { title: 'Own' });
    await own.post(`/notes/${note.id}/records`, { record_type: 'company', record_id: firm.id });
    await api.post(`/notes/${note.id}/records`, { record_type: 'contact', record_id: person.id });
    await api.create('tasks', { name: 'Through', person_id: person.id, main_assignee_id: alice });
    expectMissing(await own.get(`/contacts/${person.id}/timeline`));
    expect(await shown(`companies/${firm.id}`, '', own)).toEqual(['note Own']);
    await api.update('contacts', person.id, { owner_id: alice });
    await api.update('contacts', person.id, { title: 'Seen' });
    expect(await timeline(`contacts/${person.id}`, '?kinds=change', own)).toMatchObject([
      { detail: { before: { title: 'Hidden' }, after: { title: 'Seen' } } },
    ]);
    expect(await shown(`companies/${firm.id}`, '?kinds=task&kinds=note', own)).toEqual([
      'task Through',
      'note Own',
    ]);
  });
});
