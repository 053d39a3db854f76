// Meetings: read-only, imported from calendars.
import { Type } from 'typebox';
import {
  enumeration,
  exampleId,
  instant,
  integer,
  LONG_TEXT_CHARACTERS_MAX,
  reference,
  text,
  timestamp,
} from '../fields.ts';
import { after, before, refersTo } from '../filters.ts';
import { json } from '../json-fields.ts';
import { defineResource } from '../resource.ts';
import { nullable } from '../schemas.ts';
import { textKey } from '../text.ts';

const nullableText = nullable(Type.String());

/** The organizer of a meeting or booking. */
export const organizerSchema = Type.Object(
  { name: nullableText, email: nullableText },
  { additionalProperties: false },
);

/** An invited person; contact_id is the contact with that email, if there is one. */
export const attendeeSchema = Type.Object(
  { name: nullableText, email: nullableText, contact_id: nullableText },
  { additionalProperties: false },
);

const MEETING_STATUSES = ['confirmed', 'tentative', 'cancelled'] as const;

export const meetings = defineResource({
  name: 'meetings',
  description:
    'Meetings from calendars. Read-only; stored with `crm ingest`. You can associate a deal and a company.',
  verbs: ['list', 'get'],
  scopes: ['read', 'write'],
  owner: 'owner_id',
  fields: {
    external_id: text({
      key: textKey,
      access: 'read',
      description: 'ID in the calendar: UID or UID/RECURRENCE-ID.',
      example: 'a1b2c3@calendar.example',
    }),
    title: text({ access: 'read', example: 'Kick-off' }),
    description: text({ maxLength: LONG_TEXT_CHARACTERS_MAX, access: 'read', example: 'Agenda to follow.' }),
    location: text({ access: 'read', example: 'Room 4' }),
    start_time: instant({ access: 'read' }),
    end_time: instant({ access: 'read', example: 1_767_229_200_000 }),
    timezone: text({ access: 'read', example: 'Europe/London', description: 'IANA time zone.' }),
    status: enumeration(MEETING_STATUSES, { access: 'read', initial: 'confirmed' }),
    organizer: json(organizerSchema, { example: { name: 'Ada', email: 'ada@example.com' } }),
    attendees: json(Type.Array(attendeeSchema), {
      initial: [],
      example: [{ name: 'Charles', email: 'charles@example.com', contact_id: exampleId('contacts') }],
    }),
    deal_id: reference('deals', { access: 'read', description: 'The associated deal.' }),
    company_id: reference('companies', { access: 'read', description: 'The associated company.' }),
    recording_ids: json(Type.Array(Type.String()), {
      column: null,
      initial: [],
      description: 'Recordings of the meeting.',
      example: [exampleId('recordings')],
    }),
    owner_id: reference('users', { access: 'read', description: 'The user responsible for the meeting.' }),
    deal_linked_at: timestamp({ access: 'internal', description: 'When the deal was associated.' }),
    company_linked_at: timestamp({ access: 'internal', description: 'When the company was associated.' }),
    sequence: integer({
      access: 'internal',
      description: 'Revision in the calendar; older revisions are ignored.',
    }),
  },
  alsoSortedBy: ['start_time'],
  filters: {
    deal_id: refersTo('deals', 'deal_id'),
    company_id: refersTo('companies', 'company_id'),
    start_before: before('start_time'),
    start_after: after('start_time'),
  },
  associations: {
    deal: { column: 'deal_id', linkedAt: 'deal_linked_at', description: 'The deal the meeting is about.' },
    company: {
      column: 'company_id',
      linkedAt: 'company_linked_at',
      description: 'The company the meeting is about.',
    },
  },
  columns: ['id', 'title', 'status', 'start_time', 'end_time', 'location'],
  glance: ['title', 'start_time', 'company', 'deals', 'status', 'location', 'owner'],
});
