// Recordings: read-only, imported from call-recording tools; a short-lived link opens a transcript.
import { Type } from 'typebox';
import { boolean, instant, number, reference, text } from '../fields.ts';
import { isTrue, refersTo } from '../filters.ts';
import { json } from '../json-fields.ts';
import { defineResource } from '../resource.ts';
import { textKey } from '../text.ts';

export const recordings = defineResource({
  name: 'recordings',
  description:
    'Call recordings. Read-only; stored with `crm ingest`. Get a recording by ID for a link to its transcript.',
  verbs: ['list', 'get'],
  scopes: ['read'],
  owner: 'owner_id',
  fields: {
    external_id: text({ access: 'read', key: textKey, example: 'rec-2291' }),
    meeting_id: reference('meetings', { access: 'read', description: 'The recorded meeting.' }),
    title: text({ access: 'read', example: 'Kick-off' }),
    started_at: instant({ access: 'read' }),
    duration_seconds: number({ access: 'read', minimum: 0, example: 1_830 }),
    has_transcript: boolean({
      access: 'read',
      example: true,
      description: 'False while transcription is in progress or if there was no audio.',
    }),
    transcript_url: json(Type.String(), {
      column: null,
      description: 'Link to the transcript, valid for 300 s; null in lists and without a transcript.',
    }),
    recording_url: json(Type.String({ deprecated: true }), {
      column: null,
      description: 'Always null; will be removed in version 3.',
    }),
    video_status: json(Type.Enum(['skipped'], { deprecated: true }), {
      column: null,
      initial: 'skipped',
      example: 'skipped',
      description: 'Always skipped; will be removed in version 3.',
    }),
    owner_id: reference('users', {
      access: 'read',
      description: 'The user responsible for the recording: the owner of its meeting.',
    }),
  },
  alsoSortedBy: ['started_at'],
  filters: {
    meeting_id: refersTo('meetings', 'meeting_id'),
    has_transcript: isTrue('has_transcript'),
  },
  sideTables: [
    {
      table: 'recording_transcripts',
      parentColumn: 'recording_id',
      childColumn: 'recording_id',
      children: {},
    },
  ],
  explanations: {
    list: '`transcript_url` is null in lists: get a recording by ID for a link.',
    get: 'If the recording has a transcript, the response contains a new `transcript_url`.',
  },
  columns: ['id', 'title', 'meeting_id', 'started_at', 'duration_seconds', 'has_transcript'],
  glance: ['title', 'meeting', 'started_at', 'duration_seconds', 'has_transcript', 'owner'],
});
