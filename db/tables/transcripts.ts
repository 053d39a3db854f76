// Transcripts of recordings.
import type { JsonValue } from '../declare/json.ts';
import type { Db, RecordKey } from '../schema.ts';

export interface Transcript {
  recordingId: string;
  meetingId: string | null;
  language: string | null;
  /** `{ speaker: { name, email }, start_time, end_time, speech }`, times in seconds. */
  segments: JsonValue;
}

/** The transcript of a recording. */
export async function findTranscript(
  db: Db,
  { orgId, id: recordingId }: RecordKey,
): Promise<Transcript | undefined> {
  const row = await db
    .selectFrom('recording_transcripts as transcript')
    .innerJoin('recordings as recording' as 'records as recording', (join) =>
      join
        .onRef('recording.org_id', '=', 'transcript.org_id')
        .onRef('recording.id', '=', 'transcript.recording_id'),
    )
    .select(['transcript.language', 'transcript.segments', 'recording.meeting_id'])
    .where('transcript.org_id', '=', orgId)
    .where('transcript.recording_id', '=', recordingId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const meetingId = typeof row.meeting_id === 'string' ? row.meeting_id : null;
  return { recordingId, meetingId, language: row.language, segments: JSON.parse(row.segments) as JsonValue };
}
