// Examples of bodies and answers; bodies are such that sending them as they are works.
import { exampleId } from '../../db/declare/fields.ts';
import { type Data, isObject, type JsonValue } from '../../db/declare/json.ts';
import { findResource } from '../../db/resources/index.ts';
import type { Operation } from '../operation.ts';
import { sampleOf } from './sample.ts';
import { describeSchema, resolveRef } from './schemas.ts';

const PERSON = { firstName: 'Ada', lastName: 'Lovelace', title: 'Head of Engines' };

// Bodies of version 1, which is frozen, and whose filters and alternatives no schema tells.
const V1_BODIES: Record<string, JsonValue> = {
  createPerson: { type: 'email', identifier: 'ada@example.com', ...PERSON },
  upsertPerson: { email: 'ada@example.com', ...PERSON, altEmails: ['ada@work.example'] },
  updatePerson: { title: 'Head of Engines', remarks: 'Met at the Analytical Society.' },
  queryPeople: { limit: 20, filter: { email: 'ada@example.com' } },
  createCompanyV1: { domain: 'example.com', name: 'Example Ltd', industry: 'Manufacturing' },
  updateCompanyV1: { name: 'Example Ltd', industry: 'Manufacturing' },
  queryInteractions: { limit: 20 },
  createInteractionV1: {
    type: 'EMAIL',
    direction: 'OUTBOUND',
    title: 'Sent the offer',
    interactionDate: 1_767_225_600_000,
    mainContactEmail: 'ada@example.com',
  },
};

const NOTE_RECORD = {
  record_type: 'contact',
  record_id: exampleId('contacts'),
  linked_at: '2026-01-01T00:00:00.000Z',
};

// Data of answers that no declaration has an example of.
const ANSWERS: Record<string, JsonValue> = {
  authenticate: { team_name: 'Example Ltd' },
  createCompanyV1: { id: exampleId('companies') },
  updateCompanyV1: { id: exampleId('companies') },
  createInteractionV1: { id: exampleId('interactions'), isDuplicate: false },
  listNoteRecords: NOTE_RECORD,
  linkNoteRecords: NOTE_RECORD,
  downloadTranscript: {
    recording_id: exampleId('recordings'),
    meeting_id: exampleId('meetings'),
    language: 'en',
    segments: [
      {
        speaker: { name: 'Ada', email: 'ada@example.com' },
        start_time: 0.4,
        end_time: 3.2,
        speech: 'Shall we begin with the second unit?',
      },
    ],
  },
};

const UPDATED_FIELDS = 3;

/** Example of an operation's body; of one item of a batch. */
export function bodyExample(operation: Operation): JsonValue {
  const { id, method, body, path } = operation;
  const fixed = V1_BODIES[id];
  if (fixed !== undefined || body === undefined) return fixed ?? null;
  const sample = sampleOf(describeSchema(body), resolveRef);
  const [, name = ''] = /^\/api\/v2\/(\w+)(?:\/batch|\/\{id\})?$/.exec(path) ?? [];
  const fields = findResource(name)?.fields;
  if (!isObject(sample)) return sample;
  if (fields === undefined) return withIds(sample, path);
  // An id would have to exist; all else can be sent as it is.
  const sendable = Object.entries(sample).filter(([field]) => fields[field]?.kind !== 'reference');
  return Object.fromEntries(method === 'PATCH' ? sendable.slice(0, UPDATED_FIELDS) : sendable);
}

// The body of an association names a field of the record it is kept in, which has the example.
function withIds(sample: Data, path: string): Data {
  const [, parent = ''] = /^\/api\/v2\/(\w+)/.exec(path) ?? [];
  const fields = findResource(parent)?.fields ?? {};
  const entries = Object.entries(sample).map(([name, value]) => [name, fields[name]?.example ?? value]);
  return Object.fromEntries(entries);
}

/** Example of the data of a successful answer; of one record of a list. */
export function dataExample({ id, answer, answerKind }: Operation): JsonValue {
  const fixed = ANSWERS[id];
  if (fixed !== undefined || answer === undefined) return fixed ?? null;
  const schema = describeSchema(answer);
  if (answerKind === 'batch') return batchExample(schema);
  const sample = sampleOf(schema, resolveRef);
  return id === 'listRecordings' && isObject(sample) ? { ...sample, transcript_url: null } : sample;
}

// One item that was created and one that was not, to show both.
function batchExample(schema: Data): Data {
  const sample = sampleOf(schema, resolveRef);
  const [item] = isObject(sample) && Array.isArray(sample.items) ? sample.items : [];
  const data = isObject(item) ? (item.data ?? null) : null;
  const message = 'is not a field that can be sent here';
  const details = [{ path: 'colour', message, code: 'VALIDATION_FAILED' }];
  return {
    items: [
      { index: 0, status: 'created', data },
      {
        index: 1,
        status: 'error',
        error: { code: 'VALIDATION_FAILED', message: `colour: ${message}`, details },
      },
    ],
    summary: { total: 2, succeeded: 1, failed: 1 },
  };
}
