// Transcripts: getting a recording returns a link that downloads its transcript without a key.
import { Type } from 'typebox';
import { andThen } from '../../db/engine/engine.ts';
import { exampleId } from '../../db/model/fields.ts';
import type { JsonValue } from '../../db/model/json.ts';
import { nullable } from '../../db/model/schemas.ts';
import { findTranscript } from '../../db/records/transcripts.ts';
import type { Answer, ReadOperation } from '../operation.ts';
import type { ShownAlone } from './collections.ts';
import {
  DOWNLOADS_PER_MINUTE,
  LINK_LIFETIME_SECONDS,
  linkNotFound,
  TRANSCRIPT_PATH,
  type TranscriptLinks,
} from './transcript-links.ts';

const nullableText = (example: string) => nullable(Type.String({ examples: [example] }));
const seconds = (example: number) =>
  Type.Number({ minimum: 0, description: 'Seconds from the start of the recording.', examples: [example] });
const segment = Type.Object(
  {
    speaker: Type.Union([
      Type.Object({
        name: nullableText('Ada'),
        email: nullableText('ada@example.com'),
      }),
      Type.Null(),
    ]),
    start_time: seconds(0.4),
    end_time: seconds(3.2),
    speech: Type.String({ examples: ['Shall we begin with the second unit?'] }),
  },
  { $id: 'TranscriptSegment' },
);
const transcript = Type.Object(
  {
    recording_id: Type.String({ examples: [exampleId('recordings')] }),
    meeting_id: nullableText(exampleId('meetings')),
    language: nullableText('en'),
    segments: Type.Array(segment),
  },
  { $id: 'Transcript' },
);

/** Shows a recording that has a transcript with a new link to it. */
export function withTranscriptLink(links: TranscriptLinks): ShownAlone {
  return {
    show({ access, baseUrl, now }, recording) {
      if (recording.has_transcript !== true) return recording;
      const target = { orgNumber: access.orgNumber, id: String(recording.id) };
      const issued = links.issue(baseUrl, target, now);
      return andThen(issued, (transcript_url) => ({ ...recording, transcript_url }));
    },
    example: { transcript_url: `https://crm.example${TRANSCRIPT_PATH}?token=…` },
  };
}

/** The download behind a recording's transcript_url. */
export function transcriptDownload(links: TranscriptLinks): ReadOperation {
  return {
    api: 'v2',
    method: 'GET',
    path: TRANSCRIPT_PATH,
    id: 'downloadTranscript',
    tag: 'Recordings',
    summary: 'Download a transcript',
    description:
      `Opens the \`transcript_url\` of a recording. Its token is the only credential, gives access to that one ` +
      `transcript, and lasts ${LINK_LIFETIME_SECONDS} s. Each token allows ${DOWNLOADS_PER_MINUTE} downloads per minute.`,
    scopes: [],
    admit: (request, now) => links.admit(request, now),
    isWrite: false,
    query: {
      token: { type: 'text', description: 'The token from the link.', example: 'm0qT…' },
    },
    answer: transcript,
    answerKind: 'success',
    successes: { 200: 'Found.' },
    errorStatuses: [404, 422],
    run: async ({ db, query, now }): Promise<Answer> => {
      const found = await findTranscript(db, await links.open(String(query.token), now));
      if (found === undefined) throw linkNotFound();
      const { recordingId: recording_id, meetingId: meeting_id, language, segments } = found;
      const data: JsonValue = { recording_id, meeting_id, language, segments };
      return { status: 200, object: 'success', data };
    },
  };
}
