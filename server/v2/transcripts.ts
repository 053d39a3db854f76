// Transcripts: the link that getting a recording gives downloads its transcript without a key.
import { Type } from 'typebox';
import type { JsonValue } from '../../db/declare/json.ts';
import { findTranscript } from '../../db/tables/transcripts.ts';
import type { Answer, Operation } from '../operation.ts';
import type { ShowOne } from './collections.ts';
import {
  DOWNLOADS_PER_MINUTE,
  LINK_LIFETIME_SECONDS,
  linkGone,
  TRANSCRIPT_PATH,
  type TranscriptLinks,
} from './transcript-links.ts';

const nullableText = Type.Union([Type.String(), Type.Null()]);
const seconds = Type.Number({ minimum: 0, description: 'Seconds from the start.' });
const speaker = Type.Object({ name: nullableText, email: nullableText });
const transcriptSchema = Type.Object({
  recording_id: Type.String(),
  meeting_id: nullableText,
  language: nullableText,
  segments: Type.Array(
    Type.Object({
      speaker: Type.Union([speaker, Type.Null()]),
      start_time: seconds,
      end_time: seconds,
      speech: Type.String(),
    }),
  ),
});

/** Shows a recording that has a transcript with a fresh link to it. */
export function withTranscriptLink(links: TranscriptLinks): ShowOne {
  return ({ access, baseUrl, now }, recording) => {
    if (recording.has_transcript !== true) return recording;
    const id = String(recording.id);
    return { ...recording, transcript_url: links.issue(baseUrl, { orgId: access.orgId, id }, now) };
  };
}

/** The download behind a recording's transcript_url. */
export function transcriptDownload(links: TranscriptLinks): Operation {
  return {
    api: 'v2',
    method: 'GET',
    path: TRANSCRIPT_PATH,
    id: 'downloadTranscript',
    tag: 'Recordings',
    summary: 'Download a transcript',
    description:
      `The link that getting a recording gives: the token is its only credential, opens that one transcript, ` +
      `and lasts ${LINK_LIFETIME_SECONDS} s. At most ${DOWNLOADS_PER_MINUTE} downloads a minute by one token.`,
    scopes: [],
    admit: (request, now) => links.admit(request, now),
    isWrite: false,
    query: { token: { type: 'text', description: 'The token of the link.' } },
    answer: transcriptSchema,
    answerKind: 'success',
    successStatuses: [200],
    errorStatuses: [404, 422],
    run: async ({ db, query, now }): Promise<Answer> => {
      const transcript = await findTranscript(db, links.open(String(query.token), now));
      if (transcript === undefined) throw linkGone();
      const { recordingId: recording_id, meetingId: meeting_id, language, segments } = transcript;
      const data: JsonValue = { recording_id, meeting_id, language, segments };
      return { status: 200, object: 'success', data };
    },
  };
}
