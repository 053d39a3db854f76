// Meetings: shown with the contacts who attended and the recordings that were made.
import { recordings } from '../../db/resources/recordings.ts';
import { tableOf } from '../../db/schema.ts';
import { fillContactIds, objectsIn } from './attendance.ts';
import type { Reader, Rules } from './rules.ts';

export const meetingRules: Rules = {
  async present(reader, records) {
    await fillContactIds(
      reader,
      records.flatMap((record) => objectsIn(record.attendees)),
    );
    const recordingIds = await recordingsOf(
      reader,
      records.map((record) => String(record.id)),
    );
    for (const record of records) record.recording_ids = recordingIds.get(String(record.id)) ?? [];
  },
};

async function recordingsOf({ db, access }: Reader, meetingIds: string[]): Promise<Map<string, string[]>> {
  const rows = await db
    .selectFrom(tableOf(recordings))
    .select(['id', 'meeting_id'])
    .where('org_id', '=', access.orgId)
    .where('meeting_id', 'in', meetingIds)
    .orderBy('id')
    .execute();
  const byMeeting = new Map<string, string[]>();
  for (const row of rows) {
    const meetingId = String(row.meeting_id);
    const ids = byMeeting.get(meetingId);
    if (ids === undefined) byMeeting.set(meetingId, [row.id]);
    else ids.push(row.id);
  }
  return byMeeting;
}
