// Bookings and what they log: seen over HTTP, on a real database.
import { describe, expect, test } from 'bun:test';
import { counts, FUTURE, ingestSandbox, NOW } from '../support/ingest-database.ts';
import type { Json } from '../support/json.ts';

const sandbox = ingestSandbox();
const { get, create, byExternalId, calendar, bookings } = sandbox;

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
    await calendar([`UID:A@cal.com\n${FUTURE}`]);
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
        owner_id: sandbox.alice,
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

  test('that are repeated have the state that was reported last', async () => {
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
