// What ingest makes of calendars, recordings and bookings: seen over HTTP, on a real database.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { parseBookings } from '../cli/ingest/bookings-json.ts';
import { parseCalendar } from '../cli/ingest/ics.ts';
import { parseMeetings } from '../cli/ingest/meetings-json.ts';
import { parseRecordings } from '../cli/ingest/recordings-json.ts';
import { createOrganization, createUser } from '../db/accounts.ts';
import type { IngestOptions, IngestReport } from '../db/ingest.ts';
import { ingestBookings } from '../db/ingest-bookings.ts';
import { ingestMeetings } from '../db/ingest-meetings.ts';
import { ingestRecordings } from '../db/ingest-recordings.ts';
import { type Harness, type Json, startHarness } from './support/harness.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

let service: Harness;
let options: IngestOptions;
let key: string;
let alice: string;

beforeAll(async () => {
  service = await startHarness();
});
afterAll(() => service.close());

// An organization of its own for every test.
beforeEach(async () => {
  const name = crypto.randomUUID();
  const org = await service.store.write((trx) => createOrganization(trx, name, NOW));
  const email = 'Alice@Acme.test';
  const user = await service.store.write((trx) =>
    createUser(trx, { orgId: org.id, email, name: null, now: NOW }),
  );
  alice = user.id;
  key = (await service.issue({ orgId: org.id })).key;
  options = { orgId: org.id, ownerId: null, now: NOW };
});

async function get(path: string): Promise<Json> {
  const { status, body, text } = await service.send('GET', `/api/v2/${path}`, { key });
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
  return body.data;
}

async function create(path: string, body: Json): Promise<Json> {
  const { status, body: reply, text } = await service.send('POST', `/api/v2/${path}`, { key, body });
  if (status !== 201) throw new Error(`${path}: ${status} ${text}`);
  return reply.data;
}

async function byExternalId(resource: string): Promise<Map<string, Json>> {
  const records: Json[] = await get(`${resource}?limit=200`);
  return new Map(records.map((record) => [record.external_id, record]));
}

/** Ingests a calendar of the events given as lines without BEGIN and END. */
async function calendar(
  events: string[],
  changed: Partial<IngestOptions> & { method?: string } = {},
): Promise<IngestReport> {
  const { method = 'PUBLISH', ...rest } = changed;
  const blocks = events.map((lines) => `BEGIN:VEVENT\n${lines}\nEND:VEVENT\n`);
  const text = `BEGIN:VCALENDAR\nMETHOD:${method}\n${blocks.join('')}END:VCALENDAR\n`;
  const current = { ...options, ...rest };
  const { entries, faults } = parseCalendar(bytes(text), 'test.ics', current.now);
  expect(faults).toEqual([]);
  return ingestMeetings(service.store, current, entries);
}

function meetings(...items: Json[]): Promise<IngestReport> {
  const { entries, faults } = parseMeetings(bytes(JSON.stringify(items)), 'test.json');
  expect(faults).toEqual([]);
  return ingestMeetings(service.store, options, entries);
}

function recordings(...items: Json[]): Promise<IngestReport> {
  const { entries, faults } = parseRecordings(bytes(JSON.stringify(items)), 'test.json');
  expect(faults).toEqual([]);
  return ingestRecordings(service.store, options, entries);
}

function bookings(...items: Json[]): Promise<IngestReport> {
  const { entries, faults } = parseBookings(bytes(JSON.stringify(items)), 'test.json');
  expect(faults).toEqual([]);
  return ingestBookings(service.store, options, entries);
}

const counts = ({ created, updated, unchanged, cancelled }: IngestReport): number[] => [
  created,
  updated,
  unchanged,
  cancelled,
];
const statuses = async (): Promise<Record<string, string>> =>
  Object.fromEntries([...(await byExternalId('meetings'))].map(([id, { status }]) => [id, status]).sort());

const past = 'DTSTART:20260201T090000Z\nDTEND:20260201T100000Z';
const future = 'DTSTART:20260401T090000Z\nDTEND:20260401T100000Z';

describe('meetings', () => {
  test('appear with the contacts who attend and the owner who called them', async () => {
    const contact = await create('contacts', { email: 'ada@x.test' });
    const event = `UID:a@x\n${future}\nSUMMARY:Kick-off\nORGANIZER;CN=Alice:mailto:alice@acme.test\nATTENDEE;CN=Ada:mailto:ADA@x.test`;
    expect(counts(await calendar([event]))).toEqual([1, 0, 0, 0]);
    const [meeting] = await get('meetings');
    expect(meeting).toMatchObject({
      external_id: 'a@x',
      title: 'Kick-off',
      start_time: Date.parse('2026-04-01T09:00:00Z'),
      end_time: Date.parse('2026-04-01T10:00:00Z'),
      timezone: 'UTC',
      status: 'confirmed',
      description: null,
      organizer: { name: 'Alice', email: 'alice@acme.test' },
      attendees: [{ name: 'Ada', email: 'ADA@x.test', contact_id: contact.id }],
      owner_id: alice,
      created_by: alice,
      recording_ids: [],
    });
    expect(meeting).not.toHaveProperty('sequence');
  });

  test('ingested again change only where they differ, and keep what was not given', async () => {
    const deal = await create('deals', { name: 'Engine' });
    await calendar([`UID:a@x\n${future}\nSUMMARY:Kick-off\nLOCATION:Room 4`]);
    const [{ id }] = await get('meetings');
    await service.send('PUT', `/api/v2/meetings/${id}/deal`, { key, body: { deal_id: deal.id } });
    const [before] = await get('meetings');
    const later = { now: NOW + 60_000 };
    expect(counts(await calendar([`UID:a@x\n${future}\nSUMMARY:Kick-off\nLOCATION:Room 4`], later))).toEqual([
      0, 0, 1, 0,
    ]);
    expect(await get('meetings')).toEqual([before]);
    expect(counts(await calendar([`UID:a@x\n${future}\nSUMMARY:Moved on`], later))).toEqual([0, 1, 0, 0]);
    expect(await get('meetings')).toEqual([
      { ...before, title: 'Moved on', updated_at: new Date(later.now).toISOString() },
    ]);
  });

  test('an older revision changes nothing', async () => {
    const revision = (sequence: number) =>
      `UID:a@x\n${future}\nSEQUENCE:${sequence}\nSUMMARY:Revision ${sequence}`;
    await calendar([revision(2)]);
    expect(counts(await calendar([revision(1)]))).toEqual([0, 0, 1, 0]);
    expect((await get('meetings'))[0].title).toBe('Revision 2');
    await calendar([revision(3)]);
    expect((await get('meetings'))[0].title).toBe('Revision 3');
  });

  test('a cancellation that comes before its invitation stays', async () => {
    await calendar([`UID:a@x\n${future}\nSEQUENCE:1`], { method: 'CANCEL' });
    await calendar([`UID:a@x\n${future}\nSEQUENCE:0`], { method: 'REQUEST' });
    expect(await statuses()).toEqual({ 'a@x': 'cancelled' });
  });

  test('have the owner given where the organizer is no user, and theirs once the organizer is one', async () => {
    const bob = await service.store.write((trx) =>
      createUser(trx, { orgId: options.orgId, email: 'bob@acme.test', name: null, now: NOW }),
    );
    const by = (email: string) => `UID:a@x\n${future}\nORGANIZER:mailto:${email}`;
    await calendar([by('stranger@x.test')], { ownerId: bob.id });
    await recordings({ external_id: 'r', meeting_external_id: 'a@x' });
    expect((await get('meetings'))[0].owner_id).toBe(bob.id);
    expect((await get('recordings'))[0].owner_id).toBe(bob.id);
    await calendar([by('ALICE@acme.test')], { ownerId: bob.id });
    expect((await get('meetings'))[0].owner_id).toBe(alice);
    expect((await get('recordings'))[0].owner_id).toBe(alice);
  });

  test('from JSON are stored with their references; one that names what is not there is a fault', async () => {
    const company = await create('companies', { name: 'Analytical' });
    const report = await meetings(
      { external_id: 'a', company_id: company.id, start_time: NOW },
      { external_id: 'b', deal_id: company.id },
      { external_id: 'c', owner_id: 'nobody' },
      { external_id: 'd' },
    );
    expect(counts(report)).toEqual([2, 0, 0, 0]);
    expect(report.faults.map(({ message }) => message)).toEqual([
      `deal_id: the organization has no deals with the id ${company.id}`,
      'owner_id: the organization has no users with the id nobody',
    ]);
    const stored = await byExternalId('meetings');
    expect(stored.get('a')?.company_id).toBe(company.id);
    expect([...stored.keys()].sort()).toEqual(['a', 'd']);
  });

  test('of another organization are never touched', async () => {
    await calendar([`UID:a@x\n${future}\nSUMMARY:Ours`]);
    await calendar([`UID:a@x\n${future}\nSUMMARY:Theirs`], { orgId: service.orgId });
    expect((await get('meetings'))[0].title).toBe('Ours');
  });
});

describe('a series', () => {
  const daily = (more = '', start = 'DTSTART:20260228T090000Z') =>
    `UID:s@x\n${start}\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=4${more}`;

  test('ingested again doubles nothing', async () => {
    expect(counts(await calendar([daily()]))).toEqual([4, 0, 0, 0]);
    expect(counts(await calendar([daily()]))).toEqual([0, 0, 4, 0]);
    expect((await get('meetings')).length).toBe(4);
  });

  test('loses the instances that its calendar no longer has, and gets them back', async () => {
    await calendar([daily()]);
    const without = daily('\nEXDATE:20260301T090000Z');
    expect(counts(await calendar([without]))).toEqual([0, 0, 3, 1]);
    expect(await statuses()).toEqual({
      's@x/20260228T090000Z': 'confirmed',
      's@x/20260301T090000Z': 'cancelled',
      's@x/20260302T090000Z': 'confirmed',
      's@x/20260303T090000Z': 'confirmed',
    });
    expect(counts(await calendar([without]))).toEqual([0, 0, 3, 0]);
    await calendar([daily()]);
    expect(Object.values(await statuses())).toEqual(Array(4).fill('confirmed'));
  });

  test('keeps what lies outside of the window', async () => {
    const endless = 'UID:s@x\nDTSTART:20250101T090000Z\nRRULE:FREQ=MONTHLY';
    await calendar([endless]);
    const before = Object.keys(await statuses());
    await calendar([endless], { now: NOW + 90 * 86_400_000 });
    const after = await statuses();
    expect(Object.keys(after).length).toBe(before.length + 3);
    expect(new Set(Object.values(after))).toEqual(new Set(['confirmed']));
  });

  test('of several hundred instances is shortened as a whole', async () => {
    const until = (day: string) => `UID:s@x\nDTSTART:20260101T090000Z\nRRULE:FREQ=DAILY;UNTIL=${day}`;
    expect(counts(await calendar([until('20261231')]))).toEqual([365, 0, 0, 0]);
    expect(counts(await calendar([until('20260110')]))).toEqual([0, 0, 10, 355]);
  });

  test('that is called off cancels every instance and makes no meeting of its own', async () => {
    await calendar([daily()]);
    expect(
      counts(await calendar(['UID:s@x\nDTSTART:20260228T090000Z\nSEQUENCE:1'], { method: 'CANCEL' })),
    ).toEqual([0, 0, 1, 4]);
    const all = await statuses();
    expect(Object.keys(all).length).toBe(4);
    expect(new Set(Object.values(all))).toEqual(new Set(['cancelled']));
  });

  test('of which one instance is called off keeps the others', async () => {
    await calendar([daily()]);
    const one =
      'UID:s@x\nRECURRENCE-ID;TZID=Europe/Berlin:20260301T100000\nDTSTART:20260301T090000Z\nSEQUENCE:1';
    expect(counts(await calendar([one], { method: 'CANCEL' }))).toEqual([0, 0, 0, 1]);
    expect((await statuses())['s@x/20260301T090000Z']).toBe('cancelled');
    await calendar([daily()]);
    expect((await statuses())['s@x/20260301T090000Z']).toBe('cancelled');
  });

  test('leaves an instance as it is that is told badly', async () => {
    const moved = 'UID:s@x\nRECURRENCE-ID:20260301T090000Z\nDTSTART:20260301T150000Z\nSUMMARY:Moved';
    await calendar([daily(), moved]);
    const bad = `BEGIN:VCALENDAR\nBEGIN:VEVENT\n${daily()}\nEND:VEVENT\nBEGIN:VEVENT\n${moved}\nDURATION:long\nEND:VEVENT\nEND:VCALENDAR\n`;
    const { entries, faults } = parseCalendar(bytes(bad), 'test.ics', NOW);
    expect(faults.map(({ line }) => line)).toEqual([13]);
    expect(counts(await ingestMeetings(service.store, options, entries))).toEqual([0, 0, 3, 0]);
    const instance = (await byExternalId('meetings')).get('s@x/20260301T090000Z');
    expect(instance).toMatchObject({
      title: 'Moved',
      status: 'confirmed',
      start_time: Date.parse('2026-03-01T15:00:00Z'),
    });
  });

  test('and a single meeting replace each other', async () => {
    const single = 'UID:s@x\nDTSTART:20260228T090000Z';
    await calendar([single]);
    await calendar([daily()]);
    expect((await statuses())['s@x']).toBe('cancelled');
    await calendar([single]);
    const { 's@x': own, ...instances } = await statuses();
    expect(own).toBe('confirmed');
    expect(new Set(Object.values(instances))).toEqual(new Set(['cancelled']));
  });

  test('leaves meetings alone whose ids only look like its own', async () => {
    await meetings(
      { external_id: 's@x/notes' },
      { external_id: 's@x/20260301T090000Z/b' },
      { external_id: 's@xy' },
    );
    await calendar([daily()]);
    const { 's@x/notes': a, 's@x/20260301T090000Z/b': b, 's@xy': c } = await statuses();
    expect([a, b, c]).toEqual(['confirmed', 'confirmed', 'confirmed']);
  });
});

describe('interactions', () => {
  const invited = (...emails: string[]) => emails.map((email) => `ATTENDEE:mailto:${email}`).join('\n');

  test('a past meeting is logged once, with every contact who attended and their companies', async () => {
    const company = await create('companies', { name: 'Analytical' });
    const ada = await create('contacts', { email: 'ada@x.test', company_id: company.id });
    const charles = await create('contacts', { email: 'c@x.test', alt_emails: ['charles@x.test'] });
    const event = `UID:a@x\n${past}\nSUMMARY:Kick-off\nORGANIZER:mailto:alice@acme.test\n${invited('stranger@x.test', 'ADA@x.test', 'Charles@x.test')}`;
    await calendar([event]);
    await calendar([event]);
    const logged = await get('interactions');
    expect(logged).toEqual([
      expect.objectContaining({
        type: 'MEETING',
        direction: 'EVENT',
        title: 'Kick-off',
        interaction_date: Date.parse('2026-02-01T09:00:00Z'),
        main_contact: ada.id,
        contact_ids: [ada.id, charles.id].sort(),
        company_ids: [company.id],
        primary_id: 'a@x',
        created_by: alice,
      }),
    ]);
    const moved = [
      await get(`contacts/${ada.id}`),
      await get(`contacts/${charles.id}`),
      await get(`companies/${company.id}`),
    ];
    for (const record of moved) expect(record.last_interaction_at).toBe('2026-02-01T09:00:00.000Z');
    await calendar([`UID:b@x\nDTSTART:20260115T090000Z\n${invited('ada@x.test')}`]);
    expect((await get('interactions')).length).toBe(2);
    expect((await get(`contacts/${ada.id}`)).last_interaction_at).toBe('2026-02-01T09:00:00.000Z');
  });

  test.each([
    ['still to come', `UID:a@x\n${future}`],
    ['still going on', 'UID:a@x\nDTSTART:20260301T113000Z\nDTEND:20260301T123000Z'],
    ['cancelled', `UID:a@x\n${past}\nSTATUS:CANCELLED`],
  ])('a meeting %s is not logged', async (_, event) => {
    await create('contacts', { email: 'ada@x.test' });
    await calendar([`${event}\n${invited('ada@x.test')}`]);
    expect(await get('interactions')).toEqual([]);
  });

  test('a meeting is logged once it is over, and once one of its attendees is a contact', async () => {
    const event = `UID:a@x\n${future}\n${invited('ada@x.test')}`;
    const afterwards = { now: Date.parse('2026-04-01T10:00:00Z') };
    await calendar([event], afterwards);
    expect(await get('interactions')).toEqual([]);
    await create('contacts', { email: 'ada@x.test' });
    await calendar([event]);
    expect(await get('interactions')).toEqual([]);
    await calendar([event], afterwards);
    expect((await get('interactions')).length).toBe(1);
  });

  test('each past instance of a series is logged', async () => {
    await create('contacts', { email: 'ada@x.test' });
    const series = `UID:s@x\nDTSTART:20260226T090000Z\nRRULE:FREQ=DAILY;COUNT=6\n${invited('ada@x.test')}`;
    await calendar([series]);
    await calendar([series]);
    const ids = (await get('interactions')).map((one: Json) => one.primary_id).sort();
    expect(ids).toEqual([26, 27, 28].map((day) => `s@x/202602${day}T090000Z`).concat('s@x/20260301T090000Z'));
  });
});

describe('recordings', () => {
  const segments = [
    { speaker: { name: 'Ada', email: 'ada@x.test' }, start_time: 0, end_time: 1.5, speech: 'Hello' },
  ];

  test('have the meeting, its owner, and a transcript behind a link', async () => {
    await calendar([`UID:a@x\n${past}\nORGANIZER:mailto:alice@acme.test`]);
    const [meeting] = await get('meetings');
    const item = {
      external_id: 'r',
      meeting_external_id: 'a@x',
      title: 'Kick-off',
      duration_seconds: 90.5,
      language: 'en',
      segments,
    };
    expect(counts(await recordings(item))).toEqual([1, 0, 0, 0]);
    expect(counts(await recordings(item))).toEqual([0, 0, 1, 0]);
    const [{ id }] = await get('recordings');
    const recording = await get(`recordings/${id}`);
    expect(recording).toMatchObject({
      meeting_id: meeting.id,
      owner_id: alice,
      has_transcript: true,
      duration_seconds: 90.5,
    });
    const { pathname, search } = new URL(recording.transcript_url);
    const { body } = await service.send('GET', pathname + search, { key: null });
    expect(body.data).toEqual({ recording_id: id, meeting_id: meeting.id, language: 'en', segments });
    expect((await get('meetings'))[0].recording_ids).toEqual([id]);
  });

  test('have no transcript while it is made, nor where there was no audio', async () => {
    await recordings(
      { external_id: 'a', segments: null },
      { external_id: 'b', segments: [] },
      { external_id: 'c' },
    );
    const all = await byExternalId('recordings');
    expect([...all.values()].map((one) => one.has_transcript)).toEqual([false, false, false]);
    expect(counts(await recordings({ external_id: 'a', segments }))).toEqual([0, 1, 0, 0]);
    expect((await byExternalId('recordings')).get('a')?.has_transcript).toBe(true);
  });

  test('change in what is given only', async () => {
    await recordings({ external_id: 'a', title: 'Call', language: 'en', segments });
    expect(counts(await recordings({ external_id: 'a', language: 'de' }))).toEqual([0, 1, 0, 0]);
    const [{ id }] = await get('recordings');
    const { transcript_url, title } = await get(`recordings/${id}`);
    const { pathname, search } = new URL(transcript_url);
    const { body } = await service.send('GET', pathname + search, { key: null });
    expect([title, body.data.language, body.data.segments]).toEqual(['Call', 'de', segments]);
    await recordings({ external_id: 'a', segments: null });
    expect(await get(`recordings/${id}`)).toMatchObject({
      title: 'Call',
      has_transcript: false,
      transcript_url: null,
    });
  });

  test('of a meeting that is not there are a fault', async () => {
    await calendar([`UID:a@x\n${past}`]);
    const [{ id }] = await get('meetings');
    const report = await recordings(
      { external_id: 'a', meeting_id: id },
      { external_id: 'b', meeting_external_id: 'z' },
      { external_id: 'c', meeting_id: 'a@x' },
    );
    expect(counts(report)).toEqual([1, 0, 0, 0]);
    expect(report.faults.map(({ message }) => message)).toEqual([
      'meeting_external_id: the organization has no meeting z; ingest its meetings first',
      'meeting_id: the organization has no meeting a@x; ingest its meetings first',
    ]);
  });
});

describe('bookings', () => {
  const calCom = (triggerEvent: string, day: number, payload: Json) => ({
    triggerEvent,
    createdAt: `2026-02-0${day}T00:00:00Z`,
    payload: {
      title: 'Call',
      startTime: '2026-04-01T09:00:00Z',
      endTime: '2026-04-01T09:30:00Z',
      organizer: { name: 'Alice', email: 'alice@acme.test' },
      attendees: [{ name: 'Ada', email: 'Ada@x.test', timeZone: 'Europe/London' }],
      ...payload,
    },
  });
  const calendly = (event: string, day: number, payload: Json) => ({
    event,
    created_at: `2026-02-0${day}T00:00:00Z`,
    payload: {
      email: 'ada@x.test',
      name: 'Ada',
      rescheduled: false,
      scheduled_event: {
        name: 'Call',
        start_time: `2026-04-0${day}T09:00:00Z`,
        end_time: `2026-04-0${day}T09:30:00Z`,
      },
      ...payload,
    },
  });

  test('appear with the contact who booked, their owner and their meeting', async () => {
    const contact = await create('contacts', { email: 'ada@x.test' });
    await calendar([`UID:A@cal.com\n${future}`]);
    const [meeting] = await get('meetings');
    await bookings(calCom('BOOKING_CREATED', 1, { uid: 'A', iCalUID: 'A@cal.com' }));
    expect(await get('bookings?attendee_email=ADA@x.test')).toEqual([
      expect.objectContaining({
        external_id: 'A',
        title: 'Call',
        status: 'booked',
        start_time: Date.parse('2026-04-01T09:00:00Z'),
        timezone: 'Europe/London',
        attendee: { name: 'Ada', email: 'Ada@x.test', contact_id: contact.id },
        guests: [],
        meeting_id: meeting.id,
        owner_id: alice,
      }),
    ]);
    expect(await get('interactions')).toEqual([
      expect.objectContaining({
        type: 'BOOKING_CREATED',
        direction: 'EVENT',
        title: 'Call',
        primary_id: 'A',
        main_contact: contact.id,
        interaction_date: Date.parse('2026-02-01T00:00:00Z'),
      }),
    ]);
  });

  function permutations<T>(items: T[]): T[][] {
    if (items.length < 2) return [items];
    return items.flatMap((item, index) =>
      permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]),
    );
  }

  const moved = {
    uid: 'B',
    rescheduleUid: 'A',
    rescheduleStartTime: '2026-04-01T09:00:00Z',
    startTime: '2026-04-02T09:00:00Z',
    endTime: '2026-04-02T09:30:00Z',
  };
  const reason = {
    uid: 'B',
    cancellationReason: 'Travelling',
    startTime: moved.startTime,
    endTime: moved.endTime,
  };
  const cases: [string, Json[], Record<string, string>, Record<string, number>][] = [
    [
      'Cal.com',
      [
        calCom('BOOKING_CREATED', 1, { uid: 'A' }),
        calCom('BOOKING_RESCHEDULED', 2, moved),
        calCom('BOOKING_CANCELLED', 3, reason),
      ],
      { A: 'rescheduled 1', B: 'cancelled 2' },
      { BOOKING_CREATED: 1, BOOKING_CANCELLED: 1 },
    ],
    [
      'Calendly',
      [
        calendly('invitee.created', 1, { uri: 'A' }),
        calendly('invitee.canceled', 2, {
          uri: 'A',
          rescheduled: true,
          new_invitee: 'B',
          scheduled_event: {
            name: 'Call',
            start_time: '2026-04-01T09:00:00Z',
            end_time: '2026-04-01T09:30:00Z',
          },
        }),
        calendly('invitee.created', 2, { uri: 'B', old_invitee: 'A' }),
      ],
      { A: 'rescheduled 1', B: 'booked 2' },
      { BOOKING_CREATED: 1 },
    ],
    [
      'Cal.com within one booking',
      [
        calCom('BOOKING_CREATED', 1, { uid: 'A' }),
        calCom('BOOKING_RESCHEDULED', 2, { uid: 'A', startTime: moved.startTime, endTime: moved.endTime }),
      ],
      { A: 'rescheduled 2' },
      { BOOKING_CREATED: 1 },
    ],
  ];

  for (const [name, events, expected, logged] of cases) {
    const orders = permutations(events);
    const deliveries = [
      ...orders.map((order) => order.map((event) => [event])),
      ...orders.map((order) => [order]),
    ];
    test.each(deliveries.map((files, index) => [index, files] as const))(
      `what ${name} tells settles the same in any order: %i`,
      async (_, files) => {
        await create('contacts', { email: 'ada@x.test' });
        for (const file of [...files, ...files]) await bookings(...file);
        const all = await byExternalId('bookings');
        const states = [...all].map(([id, { status, start_time }]) => [
          id,
          `${status} ${new Date(start_time).getUTCDate()}`,
        ]);
        expect(Object.fromEntries(states)).toEqual(expected);
        const types: Record<string, number> = {};
        for (const { type } of await get('interactions')) types[type] = (types[type] ?? 0) + 1;
        expect(types).toEqual(logged);
      },
    );
  }

  test('told as they are have the state that is told last', async () => {
    const contact = await create('contacts', { email: 'ada@x.test' });
    const booking = {
      external_id: 'A',
      title: 'Call',
      attendee: { name: 'Ada', email: 'ada@x.test' },
      start_time: NOW + 1_000,
    };
    await bookings({ ...booking, status: 'cancelled', cancellation_reason: 'Ill' });
    await bookings({ ...booking, status: 'booked' });
    expect((await get('bookings'))[0]).toMatchObject({ status: 'booked', cancellation_reason: 'Ill' });
    expect(
      (await get('interactions')).map((one: Json) => [one.type, one.summary, one.interaction_date]),
    ).toEqual([
      ['BOOKING_CREATED', null, NOW],
      ['BOOKING_CANCELLED', 'Ill', NOW],
    ]);
    expect((await get(`contacts/${contact.id}`)).last_interaction_at).toBe(new Date(NOW).toISOString());
  });

  test('log nothing where nobody is a contact', async () => {
    await bookings(calCom('BOOKING_CREATED', 1, { uid: 'A' }), calCom('BOOKING_CANCELLED', 2, { uid: 'A' }));
    expect(await get('interactions')).toEqual([]);
    expect((await get('bookings')).map((one: Json) => one.status)).toEqual(['cancelled']);
  });

  test('count what became of them', async () => {
    const created = calCom('BOOKING_CREATED', 1, { uid: 'A' });
    expect(counts(await bookings(created))).toEqual([1, 0, 0, 0]);
    expect(counts(await bookings(created))).toEqual([0, 0, 1, 0]);
    expect(counts(await bookings(calCom('BOOKING_RESCHEDULED', 2, moved)))).toEqual([1, 1, 0, 0]);
    expect(counts(await bookings(calCom('BOOKING_CANCELLED', 3, reason)))).toEqual([0, 0, 0, 1]);
  });
});
