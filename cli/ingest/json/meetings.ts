// Meetings from JSON: the read-only fields as the service shows them.
import type { MeetingGroup } from '../../../db/ingest/meetings.ts';
import { meetings } from '../../../db/resources/meetings.ts';
import { FaultList, type Parsed } from '../entries.ts';
import { declared, declaredEntries } from './declared.ts';
import { readJsonItems } from './items.ts';

const MEETING = declared(meetings);

/** Reads meetings from JSON; throws a CliError if the file holds no JSON at all. */
export function parseMeetings(bytes: Uint8Array, name: string): Parsed<MeetingGroup> {
  const faults = new FaultList();
  const items = readJsonItems(bytes, name, faults);
  const entries = declaredEntries(items, MEETING, faults).map((entry) => ({
    uid: String(entry.data.external_id),
    entries: [{ ...entry, sequence: null }],
    spared: [],
    extent: null,
  }));
  return { entries, faults: faults.faults, ignored: 0 };
}
