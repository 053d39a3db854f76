// Meetings from JSON: the read-only fields as the API returns them.
import type { MeetingGroup } from '../../../db/ingest/meetings.ts';
import { meetings } from '../../../db/model/resources/meetings.ts';
import type { ReadEntries } from '../entries.ts';
import { declared, declaredEntry } from './declared.ts';
import { readJson } from './json-reader.ts';

const MEETING = declared(meetings);

/** Reads meetings from JSON, each as a group of one. */
export const readMeetings: ReadEntries<MeetingGroup> = (chunks, name, { faults }) =>
  readJson(chunks, name, faults, (item) => {
    const entry = declaredEntry(item, MEETING, faults);
    if (entry === undefined) return undefined;
    const uid = String(entry.data.external_id);
    return { uid, entries: [{ ...entry, sequence: null }], spared: [], extent: null };
  });
