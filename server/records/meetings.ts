// Meetings: shown with the contacts who attended and with their recordings.
import { listRecordingsOf } from '../../db/tables/recordings.ts';
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
  const rows = await listRecordingsOf(db, access.orgNumber, meetingIds);
  const byMeeting = Map.groupBy(rows, ({ meeting_id }) => meeting_id);
  return new Map([...byMeeting].map(([id, of]) => [id, of.map((row) => row.id)]));
}
