// Recordings by meeting.
import { sql } from 'kysely';
import { type Db, tableOf } from '../engine/schema.ts';
import { statement } from '../engine/statement.ts';
import { recordings } from '../model/resources/recordings.ts';

type OfMeeting = { id: string; meeting_id: string };

const ofMeetings = statement<OfMeeting>((db, param) =>
  db
    .selectFrom(tableOf(recordings))
    .select(['id', 'meeting_id'])
    .$castTo<OfMeeting>()
    .where('org_id', '=', param('org'))
    .where(db.engine.isAmong(sql.ref('meeting_id'), param('meetings'))),
);

/** The IDs of the meetings' recordings, oldest first, each with its meeting's ID. */
export async function listRecordingsOf(
  db: Db,
  orgNumber: number,
  meetingIds: readonly string[],
): Promise<OfMeeting[]> {
  const rows = await ofMeetings(db, { org: orgNumber, meetings: JSON.stringify(meetingIds) });
  // Sorting by ID in SQL would make the planner scan all recordings.
  return rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
