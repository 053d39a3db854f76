// Recordings from call-recording tools: the recording with its meeting's owner, and its transcript.

import type { RecordRow } from '../engine/schema.ts';
import type { Data, JsonValue } from '../model/json.ts';
import { recordings } from '../model/resources/recordings.ts';
import { findByExternalIds } from '../records/external-ids.ts';
import { saveTranscript } from '../records/transcripts.ts';
import type { Store } from '../store.ts';
import {
  type IngestEntry,
  IngestFault,
  type IngestOptions,
  type IngestReport,
  type IngestTransaction,
  ingestAll,
  type Outcome,
  recordOutcome,
  upsert,
} from './ingest-transaction.ts';
import { findMeeting } from './recorded-meeting.ts';

/**
 * Stores recordings. Besides the fields of a recording, an entry can have `meeting_external_id`, `language` and
 * `segments`: null while transcription is in progress, [] if there was no audio.
 */
export function ingestRecordings(
  store: Store,
  options: IngestOptions,
  items: AsyncIterable<IngestEntry> | Iterable<IngestEntry>,
): Promise<IngestReport> {
  return ingestAll(store, options, {
    items,
    write: (transaction, entry) =>
      recordOutcome(transaction, entry, () => writeRecording(transaction, entry)),
  });
}

async function writeRecording(transaction: IngestTransaction, { data: told }: IngestEntry): Promise<Outcome> {
  const { meeting_external_id, segments, language, ...given } = told;
  const externalId = String(given.external_id);
  const existing = (
    await findByExternalIds(transaction.trx, recordings, transaction.orgNumber, [externalId])
  ).get(externalId);
  const meeting = await meetingOf(transaction, given.meeting_id, meeting_external_id);
  const data: Data = { ...given };
  if (meeting !== undefined) data.meeting_id = meeting === null ? null : meeting.id;
  if (segments !== undefined) data.has_transcript = Array.isArray(segments) && segments.length > 0;
  const owner_id = await ownerOf(transaction, data.owner_id, meeting, existing);
  if (owner_id !== undefined) data.owner_id = owner_id;
  const { row, outcome } = await upsert(transaction, recordings, data, existing);
  const isTold = await saveTranscript(
    transaction.trx,
    { orgNumber: transaction.orgNumber, id: row.id },
    { segments, language },
  );
  return outcome === 'unchanged' && isTold ? 'updated' : outcome;
}

/** The meeting of an entry; null to clear it, undefined if the entry does not mention it. */
async function meetingOf(
  { trx, orgNumber }: IngestTransaction,
  id: JsonValue | undefined,
  externalId: JsonValue | undefined,
): Promise<RecordRow | null | undefined> {
  const named = id ?? externalId;
  if (named === undefined || named === null) return id === null || externalId === null ? null : undefined;
  const meeting = await findMeeting(trx, { orgNumber, id: String(named) });
  const isMeant = meeting !== undefined && (id === undefined || id === null || meeting.id === id);
  if (isMeant) return meeting;
  const field = typeof id === 'string' ? 'meeting_id' : 'meeting_external_id';
  throw new IngestFault(`${field}: the organization has no meeting ${String(named)}; ingest meetings first`);
}

// The owner of the meeting, if it has one; undefined to keep the current owner.
async function ownerOf(
  { trx, orgNumber, ownerId }: IngestTransaction,
  given: JsonValue | undefined,
  meeting: RecordRow | null | undefined,
  existing: RecordRow | undefined,
): Promise<JsonValue | undefined> {
  const kept = existing?.meeting_id;
  const isKept = meeting === undefined && typeof kept === 'string';
  const current = isKept ? await findMeeting(trx, { orgNumber, id: kept }) : meeting;
  if (current !== undefined && current !== null) return current.owner_id ?? null;
  return given ?? ownerId ?? undefined;
}
