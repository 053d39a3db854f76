// Recordings by meeting.
import { sql } from 'kysely';
import { type Db, tableOf } from '../engine/schema.ts';
import { lookup } from '../engine/statement.ts';
import { recordings } from '../model/resources/recordings.ts';

type OfMeeting = { id: string; meeting_id: string };

const ofMeetings = lookup<OfMeeting>((db, param, isGiven) =>
  db
    .selectFrom(tableOf(recordings))
    .select(['id', 'meeting_id'])
    .$castTo<OfMeeting>()
    .where('org_id', '=', param('org'))
    .where(isGiven(sql.ref('meeting_id'))),
);

/** The IDs of the meetings' recordings, oldest first, each with its meeting's ID. */
export async function listRecordingsOf(
  db: Db,
  orgNumber: number,
  meetingIds: readonly string[],
): Promise<OfMeeting[]> {
  const rows = await ofMeetings(db, orgNumber, meetingIds);
  // Sorting by ID in SQL would make the planner scan all recordings.
  return rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
