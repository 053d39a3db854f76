// Recordings from JSON: the read-only fields, the meeting by either id, and the transcript's segments.
import { Type } from 'typebox';
import type { IngestEntry } from '../../../db/ingest/ingest-transaction.ts';
import type { Fault } from '../../../db/model/faults.ts';
import { text } from '../../../db/model/fields.ts';
import type { Data, JsonValue } from '../../../db/model/json.ts';
import { isObject } from '../../../db/model/json.ts';
import { json } from '../../../db/model/json-fields.ts';
import { recordings } from '../../../db/model/resources/recordings.ts';
import { nullable } from '../../../db/model/schemas.ts';
import type { ReadEntries } from '../entries.ts';
import { declared, declaredEntry, endBeforeStart } from './declared.ts';
import { type JsonItem, readJson } from './json-reader.ts';

const nullableText = nullable(Type.String({ maxLength: 1_000 }));
const seconds = Type.Number({ minimum: 0 });

const RECORDING = declared(
  recordings,
  {
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
  (data) => [...meetingTwice(data), ...segmentsEndEarly(data)],
);

/** Reads recordings from JSON. */
export const readRecordings: ReadEntries<IngestEntry> = (chunks, name, { faults }) =>
  readJson(chunks, name, faults, (item) => declaredEntry(withWholeSpeakers(item), RECORDING, faults));

function withWholeSpeakers({ line, value }: JsonItem): JsonItem {
  const { segments } = value;
  return Array.isArray(segments)
    ? { line, value: { ...value, segments: segments.map(withWholeSpeaker) } }
    : { line, value };
}

// A speaker may be missing, or have only a name or an email.
function withWholeSpeaker(segment: JsonValue): JsonValue {
  if (!isObject(segment)) return segment;
  const { speaker = null } = segment;
  const isWritten = speaker === null || isObject(speaker);
  return isWritten ? { ...segment, speaker: { name: null, email: null, ...speaker } } : segment;
}

function meetingTwice({ meeting_id = null, meeting_external_id = null }: Data): Fault[] {
  if (meeting_id === null || meeting_external_id === null) return [];
  const message = 'must not be used together with meeting_id';
  return [{ path: 'meeting_external_id', message, code: 'VALIDATION_FAILED' }];
}

function segmentsEndEarly({ segments }: Data): Fault[] {
  if (!Array.isArray(segments)) return [];
  return segments.flatMap((segment, index) =>
    isObject(segment) ? endBeforeStart(`segments.${index}`, segment) : [],
  );
}
