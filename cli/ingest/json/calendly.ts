// Reads bookings from the webhooks of Calendly: one per invitee; moving one cancels an invitee and creates another.

import type { BookingEntry } from '../../../db/ingest/bookings.ts';
import { LONG_TEXT_CHARACTERS_MAX } from '../../../db/model/fields.ts';
import type { Data } from '../../../db/model/json.ts';
import { type ForeignJson, given } from './foreign.ts';

/** Whether it is a webhook of Calendly. */
export function isCalendly(value: Data): boolean {
  return typeof value.event === 'string' && typeof value.payload === 'object';
}

/** Reads a webhook; null for events that do not create, move or cancel a booking. */
export function readCalendly(value: Data, envelope: ForeignJson): Omit<BookingEntry, 'line'> | null {
  if (value.event !== 'invitee.created' && value.event !== 'invitee.canceled') return null;
  const invitee = envelope.object('payload');
  const isCreated = value.event === 'invitee.created';
  const isMoved = !isCreated && invitee.isTrue('rescheduled');
  const previous = isCreated ? invitee.text('old_invitee') : null;
  const shared = sharedFields(invitee);
  const scheduled = invitee.object('scheduled_event');
  const data: Data = {
    ...shared,
    external_id: invitee.required('uri'),
    status: isCreated ? 'booked' : isMoved ? 'rescheduled' : 'cancelled',
    ...given({
      start_time: scheduled.instant('start_time'),
      end_time: scheduled.instant('end_time'),
      cancellation_reason: isMoved ? null : invitee.object('cancellation').text('reason'),
    }),
  };
  return {
    data,
    event: previous !== null || isMoved ? 'rescheduled' : isCreated ? 'created' : 'cancelled',
    at: envelope.instant('created_at'),
    replaces: previous === null ? null : { ...shared, external_id: previous, status: 'rescheduled' },
    meetingExternalId: null,
  };
}

function sharedFields(invitee: ForeignJson): Data {
  const scheduled = invitee.object('scheduled_event');
  const host = scheduled.objects('event_memberships')[0]?.person('user_name', 'user_email') ?? null;
  const attendee = invitee.person('name', 'email');
  const guests = scheduled.objects('event_guests').flatMap((guest) => guest.text('email') ?? []);
  return {
    ...given({
      title: scheduled.text('name'),
      description: answersOf(invitee),
      timezone: invitee.text('timezone'),
      organizer: host && { ...host },
      attendee: attendee && { ...attendee },
    }),
    ...(invitee.has('scheduled_event') && { guests }),
  };
}

function answersOf(invitee: ForeignJson): string | null {
  const answers = invitee.objects('questions_and_answers').flatMap((one) => {
    const answer = one.text('answer');
    return answer === null ? [] : [`${one.text('question') ?? ''}: ${answer}`];
  });
  if (answers.length === 0) return null;
  return invitee.clipped('questions_and_answers', answers.join('\n'), LONG_TEXT_CHARACTERS_MAX);
}
