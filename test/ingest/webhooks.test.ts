// Bookings as Cal.com and Calendly send them: what they give, and what is reported of bad ones.
import { describe, expect, test } from 'bun:test';
import type { Data } from '../../db/model/json.ts';
import { readBookings, told } from '../support/ingest-readers.ts';

async function bookings(...items: unknown[]) {
  const text = items.map((item) => JSON.stringify(item)).join('\n');
  const file = await readBookings(text);
  return { ...file, faults: told(file) };
}

describe('bookings', () => {
  const calCom = (triggerEvent: string, payload: Data, createdAt = '2026-01-01T00:00:00.000Z') => ({
    triggerEvent,
    createdAt,
    payload: {
      title: 'Strategy between Alice and Ada',
      startTime: '2026-01-10T14:30:00Z',
      endTime: '2026-01-10T14:45:00Z',
      organizer: { id: 1, name: 'Alice', email: 'alice@acme.test', timeZone: 'UTC' },
      attendees: [
        { name: 'Ada', email: 'ada@x.test', timeZone: 'Europe/London' },
        { name: 'Guest', email: 'guest@x.test', timeZone: 'UTC' },
      ],
      ...payload,
    },
  });
  const calendly = (event: string, payload: Data, created_at = '2026-01-01T00:00:00.000000Z') => ({
    event,
    created_at,
    payload: {
      uri: 'https://api.calendly.com/scheduled_events/E/invitees/I',
      email: 'ada@x.test',
      name: 'Ada',
      timezone: 'America/New_York',
      old_invitee: null,
      new_invitee: null,
      rescheduled: false,
      questions_and_answers: [{ question: 'About?', answer: 'Engines', position: 0 }],
      scheduled_event: {
        name: '15 minutes',
        start_time: '2026-01-10T14:30:00.000000Z',
        end_time: '2026-01-10T14:45:00.000000Z',
        event_memberships: [{ user: 'u', user_email: 'alice@acme.test', user_name: 'Alice' }],
        event_guests: [{ email: 'guest@x.test' }],
      },
      ...payload,
    },
  });
  const people = {
    organizer: { name: 'Alice', email: 'alice@acme.test' },
    attendee: { name: 'Ada', email: 'ada@x.test' },
    guests: ['guest@x.test'],
  };
  const times = {
    start_time: Date.parse('2026-01-10T14:30:00Z'),
    end_time: Date.parse('2026-01-10T14:45:00Z'),
  };

  test('are read as Cal.com sends them', async () => {
    const { entries, faults } = await bookings(calCom('BOOKING_CREATED', { uid: 'A', iCalUID: 'A@cal.com' }));
    expect(faults).toEqual([]);
    expect(entries).toEqual([
      {
        line: 1,
        data: {
          external_id: 'A',
          title: 'Strategy between Alice and Ada',
          timezone: 'Europe/London',
          status: 'booked',
          ...people,
          ...times,
        },
        event: 'created',
        at: Date.parse('2026-01-01T00:00:00Z'),
        replaces: null,
        meetingExternalId: 'A@cal.com',
      },
    ]);
  });

  test('are moved by Cal.com to a new booking, or within the same', async () => {
    const moved = {
      uid: 'B',
      rescheduleUid: 'A',
      rescheduleStartTime: '2026-01-09T14:30:00Z',
      rescheduleEndTime: '2026-01-09T14:45:00Z',
    };
    const { entries } = await bookings(
      calCom('BOOKING_RESCHEDULED', moved),
      calCom('BOOKING_RESCHEDULED', { uid: 'C' }),
    );
    expect(entries[0]).toMatchObject({
      event: 'rescheduled',
      data: { external_id: 'B', status: 'booked' },
      replaces: { external_id: 'A', status: 'rescheduled', start_time: Date.parse('2026-01-09T14:30:00Z') },
    });
    expect(entries[1]).toMatchObject({ data: { external_id: 'C', status: 'rescheduled' }, replaces: null });
  });

  test('are cancelled by Cal.com with the reason', async () => {
    const { entries } = await bookings(
      calCom('BOOKING_CANCELLED', { uid: 'A', cancellationReason: 'Travelling' }),
    );
    expect(entries[0]).toMatchObject({
      event: 'cancelled',
      data: { status: 'cancelled', cancellation_reason: 'Travelling' },
    });
  });

  test('are read as Calendly sends them', async () => {
    const { entries, faults } = await bookings(calendly('invitee.created', {}));
    expect(faults).toEqual([]);
    expect(entries[0]).toMatchObject({
      event: 'created',
      data: {
        external_id: 'https://api.calendly.com/scheduled_events/E/invitees/I',
        title: '15 minutes',
        description: 'About?: Engines',
        timezone: 'America/New_York',
        status: 'booked',
        ...people,
        ...times,
      },
    });
  });

  test('are cancelled or moved by Calendly', async () => {
    const { entries } = await bookings(
      calendly('invitee.canceled', { cancellation: { reason: 'Travelling' } }),
      calendly('invitee.canceled', { rescheduled: true, cancellation: { reason: 'Later' } }),
      calendly('invitee.created', { uri: 'new', old_invitee: 'old' }),
    );
    expect(entries.map(({ event, data }) => [event, data.status, data.cancellation_reason])).toEqual([
      ['cancelled', 'cancelled', 'Travelling'],
      ['rescheduled', 'rescheduled', undefined],
      ['rescheduled', 'booked', undefined],
    ]);
    expect(entries[2]?.replaces).toMatchObject({ external_id: 'old', status: 'rescheduled' });
  });

  test('come in the order in which things happened', async () => {
    const { entries } = await bookings(
      calCom('BOOKING_CANCELLED', { uid: 'A' }, '2026-01-03T00:00:00Z'),
      { external_id: 'state' },
      calCom('BOOKING_CREATED', { uid: 'A' }, '2026-01-01T00:00:00Z'),
      calCom('BOOKING_RESCHEDULED', { uid: 'A' }, '2026-01-02T00:00:00Z'),
    );
    expect(entries.map(({ line }) => line)).toEqual([3, 4, 1, 2]);
  });

  test('events of another kind are counted', async () => {
    expect(
      await bookings(calCom('MEETING_ENDED', { uid: 'A' }), calendly('invitee_no_show.created', {})),
    ).toEqual({
      entries: [],
      faults: [],
      ignored: 2,
    });
  });

  test.each([
    [calCom('BOOKING_CREATED', {}), ['1: payload.uid is required']],
    [
      calCom('BOOKING_CREATED', { uid: 'A', startTime: 'soon' }, 'later'),
      [
        '1: payload.startTime must be a date and time, such as 2026-01-31T09:30:00Z',
        '1: createdAt must be a date and time, such as 2026-01-31T09:30:00Z',
      ],
    ],
    [calendly('invitee.created', { uri: null }), ['1: payload.uri is required']],
    [{ external_id: 'a', status: 'confirmed' }, ['1: status must be one of: booked, rescheduled, cancelled']],
    [{ external_id: 'a', guests: [5] }, ['1: guests.0 must be a string']],
  ])('faults are reported: %#', async (item, expected) => {
    expect(await bookings(item)).toEqual({ entries: [], faults: expected, ignored: 0 });
  });
});
