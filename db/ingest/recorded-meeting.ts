// The meetings that recordings and bookings name.
import { type Db, type RecordKey, type RecordRow, tableOf } from '../engine/schema.ts';
import { statement } from '../engine/statement.ts';
import { meetings } from '../model/resources/meetings.ts';
import { findByExternalIds } from '../records/external-ids.ts';
import { findRecord } from '../records/records.ts';
import { smallestId } from '../tables/record-id.ts';

/** The meeting with that ID or external ID. */
export async function findMeeting(db: Db, key: RecordKey): Promise<RecordRow | undefined> {
  const byId = await findRecord(db, meetings, key);
  return byId ?? (await findByExternalIds(db, meetings, key.orgNumber, [key.id])).get(key.id);
}

const createdBetween = statement((db, param) =>
  db
    .selectFrom(tableOf(meetings))
    .selectAll()
    .$castTo<RecordRow>()
    .where('org_id', '=', param('org'))
    .where('id', '>=', param('from'))
    .where('id', '<', param('to')),
);

/** The organization's meetings that were created in these milliseconds, the last one included. */
export async function findMeetingsBetween(
  db: Db,
  orgNumber: number,
  { fromMs, untilMs }: { fromMs: number; untilMs: number },
): Promise<RecordRow[]> {
  return createdBetween(db, { org: orgNumber, from: smallestId(fromMs), to: smallestId(untilMs + 1) });
}
