// Runs an ingest: reads and checks the file first, then opens the database and stores what is sound.
import { basename } from 'node:path';
import type { Data } from '../../db/declare/json.ts';
import type { IngestEntry, IngestOptions, IngestReport } from '../../db/ingest/desk.ts';
import type { RecordRow } from '../../db/schema.ts';
import type { Store } from '../../db/store.ts';
import { CliError, usageError } from '../errors.ts';
import { organizationNamed, userNamed, withStore } from '../operator/database.ts';
import { unlessInterrupted } from '../terminal/interrupt.ts';
import { startProgress } from '../terminal/progress.ts';
import type { LineFault } from './entries.ts';
import { type IngestFormat, type IngestSource, readSource } from './source.ts';

export type IngestResource = 'meetings' | 'recordings' | 'bookings';

export interface IngestRequest {
  resource: IngestResource;
  file: string;
  /** Path of the database file. */
  db: string;
  org: string;
  owner?: string;
  /** Id or external id of the meeting that was recorded. */
  meeting?: string;
  format?: IngestFormat;
  quiet?: boolean;
}

export interface IngestSummary extends IngestReport {
  resource: IngestResource;
  /** Entries that tell nothing to store, such as webhooks of other events. */
  ignored: number;
}

/** What a file came down to: the entries to store, how many, and how to store them. */
interface Plan {
  count: number;
  faults: LineFault[];
  ignored: number;
  store(store: Store, options: IngestOptions): Promise<IngestReport>;
}

const FORMATS: Record<IngestResource, readonly IngestFormat[]> = {
  meetings: ['ics', 'json'],
  recordings: ['json', 'vtt'],
  bookings: ['json'],
};

/** Ingests a file; throws a CliError if nothing of it can be used. */
export async function runIngest(request: IngestRequest): Promise<IngestSummary> {
  const now = Date.now();
  const source = await readSource(request.file, request.format, FORMATS[request.resource]);
  const plan = await planOf(request, source, now);
  return withStore(request.db, async (store) => {
    const org = await organizationNamed(store, request.org);
    const owner = request.owner === undefined ? null : await userNamed(store, org, request.owner);
    const progress = await startProgress({
      label: `Ingesting ${request.resource}`,
      unit: request.resource,
      total: plan.count,
      quiet: request.quiet ?? false,
    });
    const onProgress = (done: number): void => progress.update({ done, failed: plan.faults.length });
    const options = { orgId: org.id, ownerId: owner?.id ?? null, clock: Date.now, onProgress };
    const report = await unlessInterrupted(plan.store(store, options), () => ({
      message: 'Interrupted; what was stored so far stays.',
      nextSteps: ['run the same command again; nothing will be doubled.'],
    })).finally(() => progress.stop());
    const faults = [...plan.faults, ...report.faults].sort((a, b) => a.line - b.line);
    return { resource: request.resource, ...report, ignored: plan.ignored, faults };
  });
}

function planOf(request: IngestRequest, source: IngestSource, now: number): Promise<Plan> {
  if (request.resource === 'meetings') return planMeetings(source, now);
  if (request.resource === 'bookings') return planBookings(source);
  return source.format === 'vtt' ? planTranscript(source, request) : planRecordings(source, request);
}

async function planMeetings({ bytes, name, format }: IngestSource, now: number): Promise<Plan> {
  const { entries, faults, ignored } =
    format === 'ics'
      ? (await import('./calendar/calendar-file.ts')).parseCalendar(bytes, name, now)
      : (await import('./json/meetings.ts')).parseMeetings(bytes, name);
  const { ingestMeetings } = await import('../../db/ingest/meetings.ts');
  const count = entries.reduce((sum, group) => sum + Math.max(1, group.entries.length), 0);
  return { count, faults, ignored, store: (store, options) => ingestMeetings(store, options, entries) };
}

async function planBookings({ bytes, name }: IngestSource): Promise<Plan> {
  const { parseBookings } = await import('./json/bookings.ts');
  const { ingestBookings } = await import('../../db/ingest/bookings.ts');
  const { entries, faults, ignored } = parseBookings(bytes, name);
  const store: Plan['store'] = (to, options) => ingestBookings(to, options, entries);
  return { count: entries.length, faults, ignored, store };
}

async function planRecordings(
  { bytes, name }: IngestSource,
  { meeting: named }: IngestRequest,
): Promise<Plan> {
  const { parseRecordings } = await import('./json/recordings.ts');
  const { ingestRecordings } = await import('../../db/ingest/recordings.ts');
  const { entries, faults, ignored } = parseRecordings(bytes, name);
  const store: Plan['store'] = async (to, options) => {
    const meeting = named === undefined ? undefined : await meetingNamed(to, options.orgId, named);
    const placed = meeting === undefined ? entries : entries.map((entry) => inMeeting(entry, meeting));
    return ingestRecordings(to, options, placed);
  };
  return { count: entries.length, faults, ignored, store };
}

function inMeeting(entry: IngestEntry, meeting: RecordRow): IngestEntry {
  const { meeting_id, meeting_external_id } = entry.data;
  const isPlaced = meeting_id !== undefined || meeting_external_id !== undefined;
  return isPlaced ? entry : { ...entry, data: { ...entry.data, meeting_id: meeting.id } };
}

async function planTranscript(
  source: IngestSource,
  { file: path, meeting: named }: IngestRequest,
): Promise<Plan> {
  if (named === undefined) {
    throw usageError('A WebVTT file does not tell its meeting.', 'say --meeting with its id or external id.');
  }
  const { parseWebVtt } = await import('./web-vtt.ts');
  const { ingestRecordings } = await import('../../db/ingest/recordings.ts');
  const transcript = parseWebVtt(source.bytes, source.name);
  // A transcript of which nothing could be read says nothing of the recording.
  const isUsable = transcript.segments.length > 0 || transcript.faults.length === 0;
  const store: Plan['store'] = async (to, options) => {
    const meeting = await meetingNamed(to, options.orgId, named);
    const { external_id, title = null, start_time = null } = meeting;
    const file = path === '-' ? 'transcript.vtt' : basename(path);
    const data: Data = {
      external_id: `${external_id ?? meeting.id}/${file}`,
      meeting_id: meeting.id,
      title,
      started_at: start_time,
      duration_seconds: Math.max(0, ...transcript.segments.map((segment) => segment.end_time)),
      segments: transcript.segments,
      ...(transcript.language !== null && { language: transcript.language }),
    };
    return ingestRecordings(to, options, isUsable ? [{ line: 1, data }] : []);
  };
  return { count: isUsable ? 1 : 0, faults: transcript.faults, ignored: 0, store };
}

async function meetingNamed(store: Store, orgId: string, id: string): Promise<RecordRow> {
  const { findMeeting } = await import('../../db/ingest/desk.ts');
  const meeting = await findMeeting(store.read, { orgId, id });
  if (meeting !== undefined) return meeting;
  throw new CliError(`The organization has no meeting "${id}".`, {
    nextSteps: ['ingest its calendar first: crm ingest meetings FILE.ics --org ORG'],
  });
}
