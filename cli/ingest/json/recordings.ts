// Recordings from JSON: the read-only fields, the meeting by either id, and the transcript's segments.
import { Type } from 'typebox';
import { text } from '../../../db/declare/fields.ts';
import type { JsonValue } from '../../../db/declare/json.ts';
import { isObject } from '../../../db/declare/json.ts';
import { json } from '../../../db/declare/json-fields.ts';
import { nullable } from '../../../db/declare/schemas.ts';
import type { IngestEntry } from '../../../db/ingest/desk.ts';
import { recordings } from '../../../db/resources/recordings.ts';
import { FaultList, type Parsed } from '../entries.ts';
import { type Declared, declaredEntries } from './declared.ts';
import { type JsonItem, readJsonItems } from './items.ts';

const nullableText = nullable(Type.String({ maxLength: 1_000 }));
const seconds = Type.Number({ minimum: 0 });

const declared: Declared = {
  resource: recordings,
  extra: {
    meeting_external_id: text(),
    language: text({ maxLength: 100 }),
    segments: json(
      Type.Array(
        Type.Object(
          {
            speaker: Type.Object(
              { name: nullableText, email: nullableText },
              { additionalProperties: false },
            ),
            start_time: seconds,
            end_time: seconds,
            speech: Type.String(),
          },
          { additionalProperties: false },
        ),
      ),
    ),
  },
};

/** Reads recordings from JSON; throws a CliError if the file holds no JSON at all. */
export function parseRecordings(bytes: Uint8Array, name: string): Parsed<IngestEntry> {
  const faults = new FaultList();
  const items = readJsonItems(bytes, name, faults).map(withWholeSpeakers);
  const entries = declaredEntries(items, declared, faults).filter((entry) => isSound(entry, faults));
  return { entries, faults: faults.faults, ignored: 0 };
}

function withWholeSpeakers({ line, value }: JsonItem): JsonItem {
  const { segments } = value;
  return Array.isArray(segments)
    ? { line, value: { ...value, segments: segments.map(withWholeSpeaker) } }
    : { line, value };
}

// A speaker may be left out, or known by name or email only.
function withWholeSpeaker(segment: JsonValue): JsonValue {
  if (!isObject(segment)) return segment;
  const { speaker = null } = segment;
  const isWritten = speaker === null || isObject(speaker);
  return isWritten ? { ...segment, speaker: { name: null, email: null, ...speaker } } : segment;
}

function isSound({ line, data }: IngestEntry, faults: FaultList): boolean {
  const before = faults.faults.length;
  if (typeof data.meeting_id === 'string' && typeof data.meeting_external_id === 'string') {
    faults.add(line, 'meeting_id and meeting_external_id are both given: give one');
  }
  const segments = Array.isArray(data.segments) ? data.segments : [];
  segments.forEach((segment, index) => {
    if (isObject(segment) && Number(segment.end_time) < Number(segment.start_time)) {
      faults.add(line, `segments.${index} ends before it starts`);
    }
  });
  return faults.faults.length === before;
}
