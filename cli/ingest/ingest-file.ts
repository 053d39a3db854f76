// Runs an ingest: reads the file piece by piece, and stores the valid entries.

import { basename } from 'node:path';
import { QuotaError } from '../../db/engine/quota.ts';
import type { RecordRow } from '../../db/engine/schema.ts';
import { ingestBookings } from '../../db/ingest/bookings.ts';
import type { IngestEntry, IngestOptions, IngestReport } from '../../db/ingest/ingest-transaction.ts';
import { ingestMeetings } from '../../db/ingest/meetings.ts';
import { findMeeting, findMeetingsBetween } from '../../db/ingest/recorded-meeting.ts';
import { ingestRecordings } from '../../db/ingest/recordings.ts';
import type { Data } from '../../db/model/json.ts';
import type { Store } from '../../db/store.ts';
import { organizationNamed, userNamed, withStore } from '../database/database.ts';
import { CliError, usageError } from '../errors.ts';
import { idRangeOf } from '../input/short-id.ts';
import { formatCount } from '../terminal/format.ts';
import { unlessInterrupted } from '../terminal/interrupt.ts';
import { startProgress } from '../terminal/progress.ts';
import { shellWord } from '../terminal/text.ts';
import { readCalendar } from './calendar/calendar-file.ts';
import { Findings, type LineFault } from './entries.ts';
import { readBookings } from './json/bookings.ts';
import { readMeetings } from './json/meetings.ts';
import { readRecordings } from './json/recordings.ts';
import { type IngestFormat, type IngestSource, openIngestFile } from './source.ts';
import { readWebVtt } from './web-vtt.ts';

export type IngestResource = 'meetings' | 'recordings' | 'bookings';

export interface IngestRequest {
  resource: IngestResource;
  file: string;
  /** Path of the database file. */
  db: string;
  org?: string;
  owner?: string;
  /** ID, short ID or external ID of the recorded meeting. */
  meeting?: string;
  format?: IngestFormat;
  quiet?: boolean;
}

export interface IngestSummary extends IngestReport {
  resource: IngestResource;
  /** Entries with nothing to store, such as webhooks of other events. */
  ignored: number;
  /** Notices about stored entries. */
  notices: readonly LineFault[];
}

/** Stores the entries of a file. */
type Storing = (store: Store, options: IngestOptions) => Promise<IngestReport>;

const FORMATS: Record<IngestResource, readonly IngestFormat[]> = {
  meetings: ['ics', 'json'],
  recordings: ['json', 'vtt'],
  bookings: ['json'],
};

/** Ingests a file, piece by piece; throws a CliError if the file is unusable. */
export async function ingestFile(request: IngestRequest): Promise<IngestSummary> {
  const { resource } = request;
  const findings = new Findings();
  const source = await openIngestFile(request.file, request.format, FORMATS[resource]);
  const storing = await storingOf(request, source, findings);
  return withStore(request.db, async (store) => {
    const org = await organizationNamed(store, request.org);
    const owner = request.owner === undefined ? null : await userNamed(store, org, request.owner);
    const progress = await startProgress({
      label: `Ingesting ${resource}`,
      unit: resource,
      total: null,
      quiet: request.quiet ?? false,
    });
    let done = 0;
    // Those without a meeting, for example, are known when all entries are stored.
    const show = (refused = 0): void => {
      const share = findings.share ?? source.share();
      const failed = findings.faults.lines + refused;
      progress.update({ done, ok: done - refused, failed, ...(share !== undefined && { share }) });
    };
    const options = {
      orgNumber: org.number,
      createdBy: org.id,
      ownerId: owner?.id ?? null,
      clock: Date.now,
      onProgress: (stored: number) => {
        done = stored;
        show();
      },
    };
    const stored = unlessInterrupted(storing(store, options), () => ({
      message: 'Interrupted. What was stored so far is kept.',
      nextSteps: ['run the same command again. No duplicates are created.'],
    }));
    const report = await stored
      .then((one) => {
        show(one.faults.length);
        return one;
      })
      .finally(() => progress.stop())
      .catch((error) => {
        throw refusalOf(error, org.name);
      });
    for (const { line, message } of report.faults) findings.faults.add(line, message);
    const byLine = (lines: LineFault[]) => lines.sort((a, b) => a.line - b.line);
    const [faults, notices] = [byLine(findings.faults.faults), byLine(findings.faults.notices)];
    return { resource, ...report, ignored: findings.ignored, faults, notices };
  });
}

// The error for operators if a quota ended the ingest; other errors are returned unchanged.
function refusalOf(error: unknown, name: string): unknown {
  if (!(error instanceof QuotaError)) return error;
  const { lacking, quota } = error;
  const max = lacking === 'records' ? quota.recordsMax : quota.bytesMax;
  const used = `${formatCount(quota[lacking])} of the ${formatCount(max ?? 0)} ${lacking}`;
  return new CliError(`${name} has used ${used} of its quota. What was stored so far is kept.`, {
    nextSteps: [
      `raise the quota (crm orgs quota ${shellWord(name)} --${lacking} ${lacking === 'records' ? 'N' : 'SIZE'}), or delete what you do not need.`,
      'then run the same command again. No duplicates are created.',
    ],
    cause: error,
  });
}

// The first entries are read here, so that an unusable file is reported before the database is opened.
function storingOf(request: IngestRequest, source: IngestSource, findings: Findings): Promise<Storing> {
  const { name, format, chunks } = source;
  if (request.resource === 'bookings') return streamed(readBookings(chunks, name, findings), ingestBookings);
  if (request.resource === 'recordings') {
    return format === 'vtt'
      ? storingTranscript(source, request, findings)
      : storingRecordings(source, request, findings);
  }
  const meetings =
    format === 'ics'
      ? readCalendar(chunks, name, findings, Date.now())
      : readMeetings(chunks, name, findings);
  return streamed(meetings, ingestMeetings);
}

type Ingest<T> = (store: Store, options: IngestOptions, items: AsyncIterable<T>) => Promise<IngestReport>;

async function streamed<T>(entries: AsyncGenerator<T>, ingest: Ingest<T>): Promise<Storing> {
  const first = await entries.next();
  async function* all(): AsyncGenerator<T> {
    if (first.done) return;
    yield first.value;
    yield* entries;
  }
  return (store, options) => ingest(store, options, all());
}

function storingRecordings(
  { chunks, name }: IngestSource,
  { meeting: named }: IngestRequest,
  findings: Findings,
): Promise<Storing> {
  return streamed(readRecordings(chunks, name, findings), async (store, options, entries) => {
    const meeting = named === undefined ? undefined : await meetingNamed(store, options.orgNumber, named);
    return ingestRecordings(store, options, meeting === undefined ? entries : inMeeting(entries, meeting));
  });
}

async function* inMeeting(
  entries: AsyncIterable<IngestEntry>,
  meeting: RecordRow,
): AsyncGenerator<IngestEntry> {
  for await (const entry of entries) {
    const { meeting_id, meeting_external_id } = entry.data;
    const isPlaced = meeting_id !== undefined || meeting_external_id !== undefined;
    yield isPlaced ? entry : { ...entry, data: { ...entry.data, meeting_id: meeting.id } };
  }
}

async function storingTranscript(
  { chunks, name }: IngestSource,
  { file: path, meeting: named }: IngestRequest,
  findings: Findings,
): Promise<Storing> {
  if (named === undefined) {
    throw usageError(
      'A WebVTT file does not contain its meeting.',
      'add --meeting with the ID or external ID of the meeting.',
    );
  }
  const transcript = await readWebVtt(chunks, name, findings);
  findings.share = 1;
  // A completely invalid transcript must not change the recording.
  const isUsable = transcript.segments.length > 0 || findings.faults.faults.length === 0;
  return async (store, options) => {
    const meeting = await meetingNamed(store, options.orgNumber, named);
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
    return ingestRecordings(store, options, isUsable ? [{ line: 1, data }] : []);
  };
}

// By its ID or external ID, or by the short ID that tables show.
async function meetingNamed(store: Store, orgNumber: number, id: string): Promise<RecordRow> {
  const meeting = await findMeeting(store.read, { orgNumber, id });
  if (meeting !== undefined) return meeting;
  const range = idRangeOf(id);
  const meant =
    range === undefined
      ? []
      : (await findMeetingsBetween(store.read, orgNumber, range)).filter((row) => range.has(row.id));
  if (meant.length > 1)
    throw usageError(`The IDs of several meetings begin with "${id}".`, 'use the whole ID of one of them.');
  if (meant[0] !== undefined) return meant[0];
  throw new CliError(`Meeting "${id}" not found in the organization.`, {
    nextSteps: ['ingest its calendar first: crm ingest meetings FILE.ics --org ORG'],
  });
}
