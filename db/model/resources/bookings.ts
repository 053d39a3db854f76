// Bookings: read-only, imported from scheduling tools.
import { Type } from 'typebox';
import { enumeration, exampleId, instant, LONG_TEXT_CHARACTERS_MAX, reference, text } from '../fields.ts';
import { after, before, caseless, ofAddress, oneOf } from '../filters.ts';
import { json } from '../json-fields.ts';
import { defineResource } from '../resource.ts';
import { caselessKey, textKey } from '../text.ts';
import { attendeeSchema, organizerSchema } from './meetings.ts';

const BOOKING_STATUSES = ['booked', 'rescheduled', 'cancelled'] as const;

export const bookings = defineResource({
  name: 'bookings',
  description: 'Appointments from scheduling tools. Read-only; stored with `crm ingest`.',
  verbs: ['list', 'get'],
  scopes: ['read'],
  owner: 'owner_id',
  fields: {
    external_id: text({ access: 'read', key: textKey, example: 'bk-1187' }),
    title: text({ access: 'read', example: '30 minute call' }),
    description: text({
      maxLength: LONG_TEXT_CHARACTERS_MAX,
      access: 'read',
      example: 'About the second unit.',
    }),
    status: enumeration(BOOKING_STATUSES, { access: 'read', initial: 'booked' }),
    start_time: instant({ access: 'read' }),
    end_time: instant({ access: 'read', example: 1_767_227_000_000 }),
    timezone: text({ access: 'read', example: 'Europe/London', description: 'IANA time zone.' }),
    organizer: json(organizerSchema, { example: { name: 'Ada', email: 'ada@example.com' } }),
    attendee: json(attendeeSchema, {
      example: { name: 'Charles', email: 'charles@example.com', contact_id: exampleId('contacts') },
    }),
    attendee_email: text({ access: 'internal', key: caselessKey, example: 'charles@example.com' }),
    guests: json(Type.Array(Type.String()), {
      initial: [],
      example: ['grace@example.com'],
      description: 'Email addresses of additional guests.',
    }),
    cancellation_reason: text({
      access: 'read',
      description: 'The reason for the cancellation, if one was given.',
    }),
    meeting_id: reference('meetings', {
      access: 'read',
      description: 'The meeting created from the booking.',
    }),
    owner_id: reference('users', { access: 'read', description: 'The user responsible for the booking.' }),
  },
  alsoSortedBy: ['start_time'],
  filters: {
    status: oneOf('status', BOOKING_STATUSES),
    attendee_email: ofAddress(caseless('attendee_email')),
    start_before: before('start_time'),
    start_after: after('start_time'),
  },
  columns: ['id', 'title', 'status', 'start_time', 'attendee', 'created_at'],
  glance: ['title', 'start_time', 'attendee', 'status', 'meeting', 'owner'],
});
