// Recordings from call-recording tools: the recording with its meeting's owner, and the transcript beside it.
import type { Data, JsonValue } from '../declare/json.ts';
import { recordings } from '../resources/recordings.ts';
import type { Db, RecordRow } from '../schema.ts';
import type { Store } from '../store.ts';
import {
  findByExternalIds,
  findMeeting,
  type IngestEntry,
  IngestFault,
  type IngestOptions,
  type IngestReport,
  IngestRun,
  type Outcome,
  upsert,
} from './desk.ts';

/**
 * Stores recordings. Beside the fields of a recording an entry may have `meeting_external_id`, `language` and
 * `segments`: null while transcription is in progress, [] when there was no audio.
 */
export function ingestRecordings(
  store: Store,
  options: IngestOptions,
  entries: readonly IngestEntry[],
): Promise<IngestReport> {
  const run = new IngestRun(options);
  return run.writeAll(
    store,
    entries,
    () => 1,
    (trx, entry) => run.settle(entry.line, () => writeRecording(trx, run, entry)),
  );
}

async function writeRecording(trx: Db, run: IngestRun, entry: IngestEntry): Promise<Outcome> {
  const { meeting_external_id, segments, language, ...given } = entry.data;
  const externalId = String(given.external_id);
  const existing = (await findByExternalIds(trx, recordings, run.options.orgId, [externalId])).get(
    externalId,
  );
  const meeting = await meetingOf(trx, run, given.meeting_id, meeting_external_id);
  const data: Data = { ...given };
  if (meeting !== undefined) data.meeting_id = meeting === null ? null : meeting.id;
  if (segments !== undefined) data.has_transcript = Array.isArray(segments) && segments.length > 0;
  const ownerId = await ownerOfRecording(trx, run, data, meeting, existing);
  if (ownerId !== undefined) data.owner_id = ownerId;
  const { row, outcome } = await upsert(trx, run, recordings, data, existing);
  const isTold = await writeTranscript(trx, run.options.orgId, row.id, segments, language);
  return outcome === 'unchanged' && isTold ? 'updated' : outcome;
}

/** The meeting an entry names; null where it clears it, undefined where it says nothing. */
async function meetingOf(
  trx: Db,
  run: IngestRun,
  id: JsonValue | undefined,
  externalId: JsonValue | undefined,
): Promise<RecordRow | null | undefined> {
  const named = id ?? externalId;
  if (named === undefined || named === null) return id === null || externalId === null ? null : undefined;
  const meeting = await findMeeting(trx, run.options.orgId, String(named));
  const isMeant = meeting !== undefined && (id === undefined || id === null || meeting.id === id);
  if (isMeant) return meeting;
  const field = typeof id === 'string' ? 'meeting_id' : 'meeting_external_id';
  throw new IngestFault(
    `${field}: the organization has no meeting ${String(named)}; ingest its meetings first`,
  );
}

async function ownerOfRecording(
  trx: Db,
  run: IngestRun,
  data: Data,
  meeting: RecordRow | null | undefined,
  existing: RecordRow | undefined,
): Promise<JsonValue | undefined> {
  const kept = existing?.meeting_id;
  const current =
    meeting === undefined && typeof kept === 'string'
      ? await findMeeting(trx, run.options.orgId, kept)
      : meeting;
  if (current !== undefined && current !== null) return current.owner_id ?? null;
  return data.owner_id ?? run.options.ownerId ?? undefined;
}

/** Makes the transcript what is given; tells whether that changed anything. */
async function writeTranscript(
  trx: Db,
  orgId: string,
  recordingId: string,
  segments: JsonValue | undefined,
  language: JsonValue | undefined,
): Promise<boolean> {
  const stored = await trx
    .selectFrom('recording_transcripts')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('recording_id', '=', recordingId)
    .executeTakeFirst();
  const text = segments === undefined ? stored?.segments : transcriptText(segments);
  const row = {
    language: language === undefined ? (stored?.language ?? null) : (language as string | null),
    segments: text ?? '[]',
  };
  const isSame = stored?.segments === text && (stored === undefined || stored.language === row.language);
  if (isSame) return false;
  if (stored !== undefined) {
    await trx
      .deleteFrom('recording_transcripts')
      .where('org_id', '=', orgId)
      .where('recording_id', '=', recordingId)
      .execute();
  }
  if (text !== undefined) {
    const values = { org_id: orgId, recording_id: recordingId, ...row };
    await trx.insertInto('recording_transcripts').values(values).execute();
  }
  return true;
}

function transcriptText(segments: JsonValue): string | undefined {
  return Array.isArray(segments) && segments.length > 0 ? JSON.stringify(segments) : undefined;
}
