// Meetings, recordings and bookings as integrations leave them: what is shown, and the associations of a meeting.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { insertReadOnly, insertTranscribed } from '../support/read-only.ts';
import { type Client, clientOf, expectFault, expectMissing, uniqueEmail } from '../support/v2.ts';

let harness: Harness;
let api: Client;

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

const person = (name: string | null, email: string | null) => ({ name, email });

describe('a meeting', () => {
  test('is shown whole, attendees with the contact whose address it is', async () => {
    const [one, two, unknown] = [uniqueEmail(), uniqueEmail(), uniqueEmail()];
    const contact = await api.create('contacts', { email: one, alt_emails: [two] });
    const fields = {
      external_id: 'uid-1/20260101',
      title: 'Kick-off',
      description: 'Agenda',
      location: 'Room 4',
      start_time: 1_767_225_600_000,
      end_time: 1_767_229_200_000,
      timezone: 'Europe/London',
      status: 'tentative',
      organizer: person('Ada', 'ada@mail.example'),
      owner_id: harness.alice,
    };
    const attendees = [
      person('One', one.toUpperCase()),
      person(null, two),
      person('U', unknown),
      person('N', null),
    ];
    const id = await insertReadOnly(harness, 'meetings', { ...fields, attendees });
    const recordings = [
      await insertReadOnly(harness, 'recordings', { meeting_id: id }),
      await insertTranscribed(harness, { meeting_id: id }),
    ];
    const meeting = await api.fetch('meetings', id);
    expect(meeting).toMatchObject({ ...fields, deal_id: null, company_id: null, recording_ids: recordings });
    const contactIds = [contact.id, contact.id, null, null];
    expect(meeting.attendees).toEqual(
      attendees.map((one, index) => ({ ...one, contact_id: contactIds[index] })),
    );
    await api.del(`/contacts/${contact.id}`);
    expect((await api.fetch('meetings', id)).attendees[0].contact_id).toBeNull();
    await api.create('contacts', { email: unknown });
    expect((await api.fetch('meetings', id)).attendees[2].contact_id).not.toBeNull();
  });

  test('without anything set has every field', async () => {
    const id = await insertReadOnly(harness, 'meetings', { status: 'confirmed' });
    expect(await api.fetch('meetings', id)).toEqual({
      id,
      external_id: null,
      title: null,
      description: null,
      location: null,
      start_time: null,
      end_time: null,
      timezone: null,
      status: 'confirmed',
      organizer: null,
      attendees: [],
      deal_id: null,
      company_id: null,
      recording_ids: [],
      owner_id: null,
      created_by: 'integration',
      created_at: new Date(harness.clock.now).toISOString(),
      updated_at: new Date(harness.clock.now).toISOString(),
    });
  });
});

test('a booking is shown with its attendee as a contact, and its guests', async () => {
  const email = uniqueEmail();
  const { id: contact_id } = await api.create('contacts', { email });
  const meeting_id = await insertReadOnly(harness, 'meetings');
  const fields = {
    external_id: 'bk-1',
    title: '30 minutes',
    description: null,
    status: 'cancelled',
    start_time: 1,
    end_time: 2,
    timezone: 'UTC',
    organizer: person('Ada', 'ada@mail.example'),
    guests: ['guest@mail.example'],
    cancellation_reason: 'Travelling',
    meeting_id,
    owner_id: harness.bob,
  };
  const id = await insertReadOnly(harness, 'bookings', { ...fields, attendee: person('Charles', email) });
  const booking = await api.fetch('bookings', id);
  expect(booking).toMatchObject({ ...fields, attendee: { ...person('Charles', email), contact_id } });
  expect(booking).not.toHaveProperty('attendee_email');
  const bare = await api.fetch('bookings', await insertReadOnly(harness, 'bookings'));
  expect(bare).toMatchObject({ attendee: null, guests: [], status: 'booked', meeting_id: null });
});

test('a recording keeps its deprecated fields as they always are', async () => {
  const meeting_id = await insertReadOnly(harness, 'meetings');
  const fields = {
    external_id: 'rec-1',
    title: 'Call',
    started_at: 1_767_225_600_000,
    duration_seconds: 61.5,
    meeting_id,
    owner_id: harness.alice,
  };
  const id = await insertReadOnly(harness, 'recordings', { ...fields, has_transcript: false });
  const recording = await api.fetch('recordings', id);
  expect(recording).toMatchObject({ ...fields, has_transcript: false, transcript_url: null });
  expect(recording).toMatchObject({ recording_url: null, video_status: 'skipped' });
});

for (const [name, resource] of [
  ['deal', 'deals'],
  ['company', 'companies'],
] as const) {
  describe(`meetings/{id}/${name}`, () => {
    const field = `${name}_id`;
    const meeting = () => insertReadOnly(harness, 'meetings');
    const put = (id: string, body: Json) => api.put(`/meetings/${id}/${name}`, body);

    test('is null, then the record itself, then another, then null again', async () => {
      const id = await meeting();
      const path = `/meetings/${id}/${name}`;
      const unset = await api.get(path);
      expect([unset.status, unset.body.object, unset.body.data]).toEqual([200, 'success', null]);
      for (const record of [await api.create(resource), await api.create(resource)]) {
        harness.clock.now += 1_000;
        const updated_at = new Date(harness.clock.now + 1).toISOString();
        for (const _ of [1, 2]) {
          const set = await put(id, { [field]: record.id });
          expect([set.status, set.body.data]).toEqual([200, record]);
        }
        expect((await api.get(path)).body.data).toEqual(record);
        expect(await api.fetch('meetings', id)).toMatchObject({
          [field]: record.id,
          updated_at,
        });
      }
      for (const _ of [1, 2]) expect((await api.del(path)).status).toBe(204);
      expect((await api.get(path)).body.data).toBeNull();
      expect((await api.fetch('meetings', id))[field]).toBeNull();
    });

    test('is null once the record is deleted', async () => {
      const id = await meeting();
      const record = await api.create(resource);
      await put(id, { [field]: record.id });
      await api.del(`/${resource}/${record.id}`);
      expect((await api.get(`/meetings/${id}/${name}`)).body.data).toBeNull();
      expect((await api.fetch('meetings', id))[field]).toBeNull();
    });

    test('refuses a body without the id, with more than it, or with one that names nothing', async () => {
      const id = await meeting();
      const contact = await api.create('contacts');
      expectFault(await put(id, {}), 'VALIDATION_REQUIRED_FIELD', field);
      const record = await api.create(resource);
      expectFault(await put(id, { [field]: record.id, other: 1 }), 'VALIDATION_FAILED', 'other');
      for (const value of ['absent', contact.id, '', null, 5, []])
        expectFault(await put(id, { [field]: value }), 'VALIDATION_FAILED', field);
      expect((await api.get(`/meetings/${id}/${name}`)).body.data).toBeNull();
    });

    test('of a meeting that is not there is not found', async () => {
      const record = await api.create(resource);
      expectMissing(await api.get(`/meetings/absent/${name}`));
      expectMissing(await put('absent', { [field]: record.id }));
      expectMissing(await api.del(`/meetings/absent/${name}`));
    });
  });
}
