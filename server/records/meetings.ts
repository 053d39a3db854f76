// Meetings: shown with the contacts who attended and with their recordings.
import { listRecordingsOf } from '../../db/records/recordings.ts';
import { fillContactIds, objectsIn } from './attendance.ts';
import type { Rules } from './rules.ts';

export const meetingRules: Rules = {
  async findComputed({ db, access }, ids) {
    const recordings = await listRecordingsOf(db, access.orgNumber, ids);
    const byMeeting = Map.groupBy(recordings, ({ meeting_id }) => meeting_id);
    return (record) => {
      record.recording_ids = (byMeeting.get(String(record.id)) ?? []).map(({ id }) => id);
    };
  },
  async present(reader, records) {
    await fillContactIds(
      reader,
      records.flatMap((record) => objectsIn(record.attendees)),
    );
  },
};
