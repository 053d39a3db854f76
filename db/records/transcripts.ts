// Transcripts of recordings.

import { chargeQuota } from '../engine/quota.ts';
import type { Db, RecordKey, TranscriptRow, Trx } from '../engine/schema.ts';
import { statement } from '../engine/statement.ts';
import type { JsonValue } from '../model/json.ts';
import { noteTranscript } from '../search/notes.ts';
import { bytesIn } from '../tables/content-bytes.ts';

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
  { orgNumber, id: recordingId }: RecordKey,
): Promise<Transcript | undefined> {
  const row = await db
    .selectFrom('recording_transcripts as transcript')
    .innerJoin('recordings as recording' as 'records as recording', (join) =>
      join
        .onRef('recording.org_id', '=', 'transcript.org_id')
        .onRef('recording.id', '=', 'transcript.recording_id'),
    )
    .select(['transcript.language', 'transcript.segments', 'recording.meeting_id'])
    .where('transcript.org_id', '=', orgNumber)
    .where('transcript.recording_id', '=', recordingId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const meetingId = typeof row.meeting_id === 'string' ? row.meeting_id : null;
  return { recordingId, meetingId, language: row.language, segments: JSON.parse(row.segments) as JsonValue };
}

const byRecording = statement<TranscriptRow>((db, param) =>
  db
    .selectFrom('recording_transcripts')
    .selectAll()
    .where('org_id', '=', param('org'))
    .where('recording_id', '=', param('id')),
);

const insertion = statement<never>((db, param) =>
  db.insertInto('recording_transcripts').values({
    org_id: param('org'),
    recording_id: param('id'),
    language: param('language'),
    segments: param('segments'),
  }),
);

/**
 * Replaces the transcript of a recording: `segments` null or [] removes it, undefined keeps it, and the same for the
 * language. Returns whether anything changed.
 * @throws QuotaError
 */
export async function saveTranscript(
  trx: Trx,
  { orgNumber, id }: RecordKey,
  given: { segments?: JsonValue; language?: JsonValue },
): Promise<boolean> {
  const [stored] = await byRecording(trx, { org: orgNumber, id });
  const segments = given.segments === undefined ? stored?.segments : segmentsText(given.segments);
  const language =
    given.language === undefined ? (stored?.language ?? null) : (given.language as string | null);
  if (stored?.segments === segments && (stored === undefined || stored.language === language)) return false;
  await chargeQuota(trx, orgNumber, () => ({
    records: 0,
    bytes: bytesIn(segments) - bytesIn(stored?.segments),
  }));
  noteTranscript(trx, orgNumber, id, stored?.segments);
  if (stored !== undefined) {
    const removal = trx.deleteFrom('recording_transcripts').where('org_id', '=', orgNumber);
    await removal.where('recording_id', '=', id).execute();
  }
  if (segments !== undefined) {
    await insertion(trx, { org: orgNumber, id, language, segments });
  }
  return true;
}

function segmentsText(segments: JsonValue): string | undefined {
  return Array.isArray(segments) && segments.length > 0 ? JSON.stringify(segments) : undefined;
}
