// The segments of transcripts as stored, for several recordings at once.
import { sql } from 'kysely';
import type { Db, TranscriptRow } from '../engine/schema.ts';
import { lookup } from '../engine/statement.ts';

/** The segments of a transcript, in JSON. */
export type SegmentText = Pick<TranscriptRow, 'recording_id' | 'segments'>;

const segmentTexts = lookup<SegmentText>((db, param, isGiven) =>
  db
    .selectFrom('recording_transcripts')
    .select(['recording_id', 'segments'])
    .where('org_id', '=', param('org'))
    .where(isGiven(sql.ref('recording_id'))),
);

/** The segments of the transcripts that these recordings have. */
export async function findSegmentTexts(
  db: Db,
  orgNumber: number,
  recordingIds: readonly string[],
): Promise<SegmentText[]> {
  return segmentTexts(db, orgNumber, recordingIds);
}
