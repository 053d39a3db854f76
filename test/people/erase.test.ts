// Handing out and erasing a person: over all resources, what is theirs alone goes, what is of others stays without them.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { tableOf } from '../../db/engine/schema.ts';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import { type Erasure, erasePerson } from '../../db/people/erase.ts';
import { exportPerson } from '../../db/people/export.ts';
import { findPerson } from '../../db/people/person.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { countedIn, recordTotalsOf, setQuota } from '../support/quota.ts';
import { insertReadOnly, insertTranscribed } from '../support/read-only.ts';
import { type Client, clientOf } from '../support/v2.ts';

const EMAIL = 'ada@secret.example';
const OTHER_EMAIL = 'countess@secret.example';
const SECRET = /secret\.example/i;

interface Place extends Harness {
  v2client: Client;
  made: Record<string, string>;
}

/** An organization that has traces of Ada everywhere, and another one that has her too. */
async function place(): Promise<Place> {
  const harness = await startHarness();
  const client = clientOf(harness);
  const id = async (resource: string, body: Json): Promise<string> =>
    (await client.create(resource, body)).id;
  const link = async (path: string, body: Json) => expect((await client.post(path, body)).status).toBe(200);
  const acme = await id('companies', { name: 'Acme', custom: { buyer: 'Ada@Secret.example' } });
  const ada = await id('contacts', {
    ...{ email: 'Ada@secret.example', alt_emails: [OTHER_EMAIL], first_name: 'Ada', last_name: 'Lovelace' },
    company_id: acme,
  });
  const bob = await id('contacts', {
    email: 'bob@x.example',
    remarks: `Knows ${EMAIL}.`,
    custom: { [EMAIL]: 1 },
  });
  const deal = await id('deals', { name: 'Engine', point_of_contact_id: ada, custom: { via: OTHER_EMAIL } });
  const second = await id('deals', { name: 'Second' });
  await link(`/deals/${second}/contacts`, { contact_id: bob, supervisor: ada });
  const ownTask = await id('tasks', { name: 'Call Ada', person_id: ada });
  const dealTask = await id('tasks', { name: 'Offer', person_id: ada, deal_id: deal });
  const ownNote = await id('notes', { title: 'About Ada' });
  await link(`/notes/${ownNote}/records`, { record_type: 'contact', record_id: ada });
  const sharedNote = await id('notes', { title: 'Both', content: `Wrote from ${EMAIL}` });
  for (const [record_type, record_id] of [
    ['contact', ada],
    ['deal', deal],
  ])
    await link(`/notes/${sharedNote}/records`, { record_type, record_id });
  const segment = await id('segments', { name: 'Newsletter' });
  const list = await id('segments', { name: 'Hers' });
  await link(`/segments/${segment}/members`, { record_id: ada });
  const email = { type: 'EMAIL', direction: 'INBOUND' };
  const ownInteraction = await id('interactions', { ...email, title: 'Hello', main_contact: ada });
  const bobs = await id('interactions', {
    ...{ ...email, title: `Ada <${EMAIL}> asked`, main_contact: bob, contact_ids: [ada] },
  });
  const people = [
    { name: 'A. Lovelace', email: EMAIL, contact_id: null },
    { name: 'Bob', email: 'bob@x.example', contact_id: null },
  ];
  const organizer = { name: 'Bob', email: 'bob@x.example' };
  const meeting = await insertReadOnly(harness, 'meetings', {
    ...{ external_id: `invite:${EMAIL}`, title: `Call with ${EMAIL}`, organizer, attendees: people },
  });
  const attendee = { name: 'Ada', email: OTHER_EMAIL, contact_id: null };
  const ownBooking = await insertReadOnly(harness, 'bookings', {
    external_id: 'b1',
    attendee,
    organizer,
    guests: [],
  });
  const sharedBooking = await insertReadOnly(harness, 'bookings', {
    ...{ external_id: 'b2', attendee, organizer, guests: ['bob@x.example', EMAIL] },
  });
  const recording = await insertTranscribed(harness, { external_id: 'r1', meeting_id: meeting });
  const say = (name: string | null, address: string | null, speech: string) => ({
    ...{ speaker: { name, email: address }, start_time: 0, end_time: 1, speech },
  });
  const segments = [
    say('Ada', EMAIL, 'I am Ada.'),
    say('a. lovelace', null, 'And I said so.'),
    say('Bob', 'bob@x.example', `Write to ${EMAIL}.`),
    say('Bob', null, 'Gladly.'),
  ];
  await harness.store.write(harness.orgNumber, (trx) =>
    trx
      .updateTable('recording_transcripts')
      .set({ segments: JSON.stringify(segments) })
      .where('recording_id', '=', recording)
      .execute(),
  );
  for (const [path, source, external] of [
    [`/contacts/${ada}`, 'newsletter', EMAIL],
    [`/contacts/${ada}`, 'crm', '0031'],
    [`/contacts/${bob}`, 'crm', '0032'],
    [`/contacts/${bob}`, 'newsletter', 'bob@x.example'],
    [`/contacts/${bob}`, 'sponsor', EMAIL],
    [`/deals/${second}`, 'erp', `for:${OTHER_EMAIL}`],
    [`/segments/${list}`, 'newsletter', `{${EMAIL}}`],
  ])
    await link(`${path}/external_ids`, { source: source ?? '', id: external ?? '' });
  // Of a contact that an older crm on the same database has deleted.
  const left = { resource: 'contacts', source: 'left', external_id: EMAIL, record_id: 'gone', created_at: 1 };
  await harness.store.write(harness.orgNumber, (trx) =>
    trx
      .insertInto('external_ids')
      .values({ org_id: harness.orgNumber, ...left })
      .execute(),
  );
  for (const key of ['theirs', 'of-others']) {
    const body = key === 'theirs' ? { remarks: 'x' } : { first_name: 'Nobody' };
    const path = key === 'theirs' ? `/contacts/${ada}` : '/contacts';
    await harness.send(key === 'theirs' ? 'PATCH' : 'POST', `/api/v2${path}`, {
      body,
      headers: { 'Idempotency-Key': key },
    });
  }
  const elsewhere = await client.withKey({ orgNumber: harness.otherOrgNumber });
  const namesake = (await elsewhere.create('contacts', { email: EMAIL })).id;
  const made = {
    acme,
    ada,
    bob,
    deal,
    second,
    ownTask,
    dealTask,
    ownNote,
    sharedNote,
    segment,
    list,
    ownInteraction,
  };
  return {
    ...harness,
    v2client: client,
    made: { ...made, bobs, meeting, ownBooking, sharedBooking, recording, namesake },
  };
}

const erase = async ({ store, orgNumber }: Harness, isDryRun = false): Promise<Erasure> => {
  const person = await findPerson(store.read, orgNumber, EMAIL.toUpperCase());
  return erasePerson(store, person, { isDryRun, onProgress: () => {}, finish: async () => {} });
};

/** All that an organization has, as text. */
async function textOf({ store }: Harness, orgNumber: number): Promise<string> {
  const tables = [
    ...RESOURCES.map(tableOf),
    'recording_transcripts',
    'idempotency_keys',
    'contact_emails',
    'external_ids',
  ];
  const rows = await Promise.all(
    tables.map((table) =>
      sql`select * from ${sql.table(table)} where org_id = ${orgNumber}`.execute(store.read),
    ),
  );
  return JSON.stringify(rows.map((one) => one.rows));
}

describe('erasing', () => {
  let here: Place;
  let before: string;
  let planned: Erasure;
  let done: Erasure;
  beforeAll(async () => {
    here = await place();
    before = await textOf(here, here.orgNumber);
    planned = await erase(here, true);
    expect(await textOf(here, here.orgNumber)).toBe(before);
    done = await erase(here);
  });
  afterAll(() => here.close());

  test('leaves no address, name or word of the person in anything', async () => {
    expect(before).toMatch(SECRET);
    const after = await textOf(here, here.orgNumber);
    expect(after).not.toMatch(SECRET);
    for (const word of ['Lovelace', 'lovelace', 'I am Ada.', 'And I said so.', here.made.ada ?? ''])
      expect(after).not.toContain(word);
  });

  test('does what a dry run tells, and tells what is left to be looked at', () => {
    expect(done).toEqual(planned);
    expect(done.resources).toEqual({
      companies: { deleted: 0, changed: 1, unlinked: 0 },
      contacts: { deleted: 1, changed: 1, unlinked: 0 },
      deals: { deleted: 0, changed: 2, unlinked: 0 },
      tasks: { deleted: 1, changed: 0, unlinked: 1 },
      notes: { deleted: 1, changed: 1, unlinked: 0 },
      segments: { deleted: 0, changed: 1, unlinked: 1 },
      interactions: { deleted: 1, changed: 1, unlinked: 0 },
      meetings: { deleted: 0, changed: 1, unlinked: 0 },
      bookings: { deleted: 1, changed: 1, unlinked: 0 },
    });
    expect([done.transcripts, done.stored_answers]).toEqual([1, 1]);
    const { acme, bob, deal, second, dealTask, sharedNote, list, bobs, meeting, sharedBooking, recording } =
      here.made;
    const rest = [
      ...[acme, bob, deal, second, dealTask, sharedNote, list, bobs, meeting, sharedBooking, recording],
    ];
    expect(done.to_look_at.map(({ id }) => id).toSorted()).toEqual(rest.map(String).toSorted());
  });

  test('deletes what is theirs alone', async () => {
    const { ada, ownTask, ownNote, ownInteraction, ownBooking } = here.made;
    for (const path of [
      `contacts/${ada}`,
      `tasks/${ownTask}`,
      `notes/${ownNote}`,
      `interactions/${ownInteraction}`,
      `bookings/${ownBooking}`,
    ])
      expect([path, (await here.v2client.get(`/${path}`)).status]).toEqual([path, 404]);
  });

  test('keeps what is of others, without the person', async () => {
    const { acme, bob, deal, second, dealTask, sharedNote, segment, bobs, meeting, sharedBooking } =
      here.made;
    const get = (resource: string, id = '') => here.v2client.fetch(resource, id);
    expect((await get('companies', acme)).custom).toEqual({ buyer: '[erased]' });
    expect(await get('contacts', bob)).toMatchObject({
      ...{ email: 'bob@x.example', remarks: 'Knows [erased].', custom: { '[erased]': 1 } },
    });
    expect(await get('deals', deal)).toMatchObject({
      point_of_contact_id: null,
      custom: { via: '[erased]' },
    });
    expect(await here.v2client.list(`/deals/${second}/contacts`)).toMatchObject([
      { id: bob, supervisor: null },
    ]);
    expect(await get('tasks', dealTask)).toMatchObject({ person_id: null, deal_id: deal, name: 'Offer' });
    expect(await get('notes', sharedNote)).toMatchObject({ content: 'Wrote from [erased]' });
    expect(await here.v2client.list(`/notes/${sharedNote}/records`)).toMatchObject([{ record_id: deal }]);
    expect(await here.v2client.list(`/segments/${segment}/members`)).toEqual([]);
    expect(await get('interactions', bobs)).toMatchObject({
      title: 'Ada <[erased]> asked',
      main_contact: bob,
      contact_ids: [bob],
    });
    expect(await get('meetings', meeting)).toMatchObject({
      title: 'Call with [erased]',
      external_id: `erased-${meeting}`,
      organizer: { name: 'Bob', email: 'bob@x.example' },
      attendees: [
        { name: '[erased]', email: null, contact_id: null },
        { name: 'Bob', email: 'bob@x.example', contact_id: bob },
      ],
    });
    expect(await get('bookings', sharedBooking)).toMatchObject({
      attendee: { name: '[erased]', email: null, contact_id: null },
      guests: ['bob@x.example'],
    });
    const found = await here.v2client.list(`/bookings?attendee_email=${encodeURIComponent(OTHER_EMAIL)}`);
    expect(found).toEqual([]);
  });

  test('removes external IDs with an address, and keeps the others', async () => {
    const { bob, second, list } = here.made;
    const of = async (path: string) =>
      (await here.v2client.list(`${path}/external_ids`)).map(({ source, id }) => [source, id]);
    expect(await of(`/contacts/${bob}`)).toEqual([
      ['newsletter', 'bob@x.example'],
      ['crm', '0032'],
    ]);
    expect(await of(`/deals/${second}`)).toEqual([]);
    expect(await of(`/segments/${list}`)).toEqual([]);
  });

  test('takes out of a transcript what they said, and leaves what others said', async () => {
    const { store, orgNumber, made } = here;
    const row = await store.read
      .selectFrom('recording_transcripts')
      .select('segments')
      .where('org_id', '=', orgNumber)
      .where('recording_id', '=', made.recording ?? '')
      .executeTakeFirstOrThrow();
    const gone = { name: '[erased]', email: null };
    expect(JSON.parse(row.segments)).toMatchObject([
      { speaker: gone, speech: '[erased]', start_time: 0, end_time: 1 },
      { speaker: gone, speech: '[erased]' },
      { speaker: { name: 'Bob', email: 'bob@x.example' }, speech: 'Write to [erased].' },
      { speaker: { name: 'Bob', email: null }, speech: 'Gladly.' },
    ]);
  });

  test('forgets stored answers that tell of them, and no others', async () => {
    const rows = await here.store.read.selectFrom('idempotency_keys').select('key').execute();
    expect(rows.map(({ key }) => key)).toEqual(['of-others']);
  });

  test('leaves in the log of changes that something changed, without what it was', async () => {
    const { body } = await here.v2client.get(
      `/changes?limit=200&resource=contacts&record_id=${here.made.ada}`,
    );
    const shown = body.data.map(({ action, before, record }: Json) => [action, before, record]);
    expect(shown).toEqual([
      ['created', null, null],
      ['updated', null, null],
      ['deleted', null, null],
    ]);
    const links = await here.v2client.get('/changes?limit=200&action=unlinked');
    expect(links.body.data.length).toBeGreaterThan(2);
    expect(new Set(links.body.data.map(({ link }: Json) => link))).toEqual(new Set([null]));
  });

  test('touches no other organization, and lets the address be used again', async () => {
    expect(await textOf(here, here.otherOrgNumber)).toMatch(SECRET);
    expect((await here.v2client.post('/contacts', { email: EMAIL })).status).toBe(201);
  });
});

describe('handing out', () => {
  test('has every record that is tied to the person or tells of them, and of others only how many', async () => {
    const here = await place();
    const { store, orgNumber, made } = here;
    const person = await findPerson(store.read, orgNumber, EMAIL);
    const document = await exportPerson(store.read, person, () => {});
    const all = document.records;
    expect(document.addresses).toEqual([EMAIL, OTHER_EMAIL]);
    expect(document.contact).toMatchObject({
      ...{ id: made.ada, last_name: 'Lovelace' },
      external_ids: [
        { source: 'crm', id: '0031' },
        { source: 'newsletter', id: EMAIL },
      ],
    });
    expect(all.deals?.find(({ id }) => id === made.second)).toMatchObject({
      external_ids: [{ source: 'erp', id: `for:${OTHER_EMAIL}` }],
    });
    expect(
      Object.fromEntries(Object.entries(all).map(([name, some]) => [name, some.map(({ id }) => id)])),
    ).toEqual({
      companies: [made.acme],
      contacts: [made.bob],
      deals: [made.deal, made.second].toSorted(),
      tasks: [made.ownTask, made.dealTask].toSorted(),
      notes: [made.ownNote, made.sharedNote].toSorted(),
      segments: [made.segment, made.list].toSorted(),
      interactions: [made.ownInteraction, made.bobs].toSorted(),
      meetings: [made.meeting],
      bookings: [made.ownBooking, made.sharedBooking].toSorted(),
    } as never);
    expect(all.contacts).toEqual([
      { id: made.bob ?? '', mentioned_in: ['remarks', 'custom', 'external_ids'] },
    ]);
    expect(all.meetings?.[0]).toMatchObject({
      organizer: null,
      attendees: { theirs: [{ name: 'A. Lovelace', email: EMAIL }], others: 1 },
    });
    expect(document.transcripts).toMatchObject([
      { recording_id: made.recording, segments: [{ speech: 'I am Ada.' }, { speech: 'And I said so.' }] },
    ]);
    expect(JSON.stringify(document)).not.toContain('bob@x.example');
    await here.close();
  });

  test('is done though the quota is used up, and what stands for an address is longer', async () => {
    const harness = await startHarness();
    const client = clientOf(harness);
    await client.create('contacts', { email: 'a@x.io' });
    const note = await client.create('notes', { title: 'Call', content: 'Of a@x.io.' });
    await setQuota(harness, { bytes: (await recordTotalsOf(harness)).bytes });
    const person = await findPerson(harness.store.read, harness.orgNumber, 'a@x.io');
    await erasePerson(harness.store, person, {
      isDryRun: false,
      onProgress: () => {},
      finish: async () => {},
    });
    expect((await client.fetch('notes', note.id)).content).toBe('Of [erased].');
    expect(await countedIn(harness)).toEqual(await recordTotalsOf(harness));
    expect((await client.patch(`/notes/${note.id}`, { content: 'x'.repeat(30) })).status).toBe(403);
    await harness.close();
  });

  test('tells of a user with the address, who stays', async () => {
    const harness = await startHarness();
    const person = await findPerson(harness.store.read, harness.orgNumber, 'ALICE@acme.test');
    const document = await exportPerson(harness.store.read, person, () => {});
    expect(document.users).toMatchObject([{ id: harness.alice, email: 'alice@acme.test' }]);
    await erasePerson(harness.store, person, {
      isDryRun: false,
      onProgress: () => {},
      finish: async () => {},
    });
    expect((await findPerson(harness.store.read, harness.orgNumber, 'alice@acme.test')).users).toHaveLength(
      1,
    );
    await harness.close();
  });
});
