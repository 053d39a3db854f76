// Reads bookings from the webhooks of Cal.com.

import type { BookingEntry } from '../../../db/ingest/bookings.ts';
import { LONG_TEXT_CHARACTERS_MAX } from '../../../db/model/fields.ts';
import type { Data } from '../../../db/model/json.ts';
import { type Person, uniquePeople } from '../people.ts';
import { type ForeignJson, given } from './foreign.ts';

const EVENTS: Record<string, BookingEntry['event']> = {
  BOOKING_CREATED: 'created',
  BOOKING_RESCHEDULED: 'rescheduled',
  BOOKING_CANCELLED: 'cancelled',
};

/** Whether it is a webhook of Cal.com. */
export function isCalCom(value: Data): boolean {
  return typeof value.triggerEvent === 'string';
}

/** Reads a webhook; null for events that do not create, move or cancel a booking. */
export function readCalCom(value: Data, envelope: ForeignJson): Omit<BookingEntry, 'line'> | null {
  const event = EVENTS[String(value.triggerEvent)];
  if (event === undefined) return null;
  const payload = envelope.has('payload') ? envelope.object('payload') : envelope;
  const uid = payload.required('uid');
  const previous = payload.text('rescheduleUid');
  const isReplacing = event === 'rescheduled' && previous !== null && previous !== uid;
  const shared = sharedFields(payload);
  const data: Data = {
    ...shared,
    external_id: uid,
    status:
      event === 'cancelled' ? 'cancelled' : event === 'created' || isReplacing ? 'booked' : 'rescheduled',
    ...given({
      start_time: payload.instant('startTime'),
      end_time: payload.instant('endTime'),
      cancellation_reason: payload.text('cancellationReason'),
    }),
  };
  return {
    data,
    event,
    at: envelope.instant('createdAt'),
    replaces: isReplacing ? replaced(payload, previous, shared) : null,
    meetingExternalId: payload.text('iCalUID'),
  };
}

function sharedFields(payload: ForeignJson): Data {
  const people = uniquePeople(payload.objects('attendees').map((one) => toPerson(one)));
  const [attendee = booker(payload), ...guests] = people;
  const organizer = payload.has('organizer') ? toPerson(payload.object('organizer')) : null;
  const timezone =
    payload.objects('attendees')[0]?.text('timeZone') ?? payload.object('organizer').text('timeZone');
  const emails = guests.flatMap(({ email }) => (email === null ? [] : [email]));
  return {
    ...given({
      title: payload.text('title') ?? payload.text('eventTitle'),
      description:
        payload.text('additionalNotes', LONG_TEXT_CHARACTERS_MAX) ??
        payload.text('description', LONG_TEXT_CHARACTERS_MAX),
      timezone,
      organizer: organizer && { ...organizer },
      attendee: attendee && { ...attendee },
    }),
    ...(people.length > 0 && { guests: emails }),
  };
}

function toPerson(person: ForeignJson): Person {
  return person.person('name', 'email') ?? { name: null, email: null };
}

// Without attendees, the responses of the booking form contain who booked.
function booker(payload: ForeignJson): Person | null {
  const answers = payload.object('responses');
  const name = answers.object('name').text('value');
  const email = answers.object('email').text('value');
  return name === null && email === null ? null : { name, email };
}

function replaced(payload: ForeignJson, previous: string, shared: Data): Data {
  return {
    ...shared,
    external_id: previous,
    status: 'rescheduled',
    ...given({
      start_time: payload.instant('rescheduleStartTime'),
      end_time: payload.instant('rescheduleEndTime'),
    }),
  };
}
