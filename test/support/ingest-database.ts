// A database for the tests of ingest, with an organization of its own for every test, and what is seen of it over HTTP.
import { afterAll, beforeAll, beforeEach, expect } from 'bun:test';
import { createOrganization, createUser } from '../../db/accounts/accounts.ts';
import { ingestBookings } from '../../db/ingest/bookings.ts';
import type { IngestOptions, IngestReport } from '../../db/ingest/ingest-transaction.ts';
import { ingestMeetings } from '../../db/ingest/meetings.ts';
import { ingestRecordings } from '../../db/ingest/recordings.ts';
import { type Harness, type Json, startHarness } from './harness.ts';
import { readBookings, readCalendar, readMeetings, readRecordings } from './ingest-readers.ts';

export const NOW = Date.parse('2026-03-01T12:00:00Z');
/** Times of an event, in the lines of a calendar. */
export const PAST = 'DTSTART:20260201T090000Z\nDTEND:20260201T100000Z';
export const FUTURE = 'DTSTART:20260401T090000Z\nDTEND:20260401T100000Z';

/** Created, updated, unchanged, cancelled. */
export const counts = ({ created, updated, unchanged, cancelled }: IngestReport): number[] => [
  created,
  updated,
  unchanged,
  cancelled,
];

/** Registers the hooks of a test file; what it gives is always of the test that runs. */
export function ingestSandbox() {
  let harness: Harness;
  let options: IngestOptions;
  let key = '';
  let alice = '';
  beforeAll(async () => {
    harness = await startHarness();
    harness.clock.now = NOW;
  });
  afterAll(() => harness.close());
  beforeEach(async () => {
    const { store } = harness;
    const org = await store.write('accounts', (trx) => createOrganization(trx, crypto.randomUUID(), NOW));
    const user = { orgNumber: org.number, email: 'Alice@Acme.test', name: null, now: NOW };
    alice = (await store.write('accounts', (trx) => createUser(trx, user))).id;
    key = (await harness.issue({ orgNumber: org.number })).key;
    options = { orgNumber: org.number, createdBy: org.id, ownerId: null, clock: () => NOW };
  });

  async function get(path: string): Promise<Json> {
    const { status, body, text } = await harness.send('GET', `/api/v2/${path}`, { key });
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
    return body.data;
  }

  async function create(path: string, body: Json): Promise<Json> {
    const { status, body: reply, text } = await harness.send('POST', `/api/v2/${path}`, { key, body });
    if (status !== 201) throw new Error(`${path}: ${status} ${text}`);
    return reply.data;
  }

  async function byExternalId(resource: string): Promise<Map<string, Json>> {
    const records: Json[] = await get(`${resource}?limit=200`);
    return new Map(records.map((record) => [record.external_id, record]));
  }

  /** The status of each meeting by its external id. */
  async function statuses(): Promise<Record<string, string>> {
    return Object.fromEntries(
      [...(await byExternalId('meetings'))].map(([id, { status }]) => [id, status]).sort(),
    );
  }

  /** Ingests a calendar of the events given as lines without BEGIN and END. */
  async function calendar(
    events: string[],
    changed: Partial<Pick<IngestOptions, 'orgNumber' | 'ownerId'>> & { method?: string; now?: number } = {},
  ): Promise<IngestReport> {
    const { method = 'PUBLISH', now = NOW, ...rest } = changed;
    const blocks = events.map(
      (lines) => `BEGIN:VEVENT
${lines}
END:VEVENT
`,
    );
    const text = `BEGIN:VCALENDAR
METHOD:${method}
${blocks.join('')}END:VCALENDAR
`;
    const { entries, faults } = await readCalendar(text, now);
    expect(faults).toEqual([]);
    return ingestMeetings(harness.store, { ...options, ...rest, clock: () => now }, entries);
  }

  async function meetings(...items: Json[]): Promise<IngestReport> {
    const { entries, faults } = await readMeetings(JSON.stringify(items));
    expect(faults).toEqual([]);
    return ingestMeetings(harness.store, options, entries);
  }

  async function recordings(...items: Json[]): Promise<IngestReport> {
    const { entries, faults } = await readRecordings(JSON.stringify(items));
    expect(faults).toEqual([]);
    return ingestRecordings(harness.store, options, entries);
  }

  async function bookings(...items: Json[]): Promise<IngestReport> {
    const { entries, faults } = await readBookings(JSON.stringify(items));
    expect(faults).toEqual([]);
    return ingestBookings(harness.store, options, entries);
  }

  return {
    get harness() {
      return harness;
    },
    get options() {
      return options;
    },
    get key() {
      return key;
    },
    /** A user, whose email is Alice@Acme.test. */
    get alice() {
      return alice;
    },
    ...{ get, create, byExternalId, statuses, calendar, meetings, recordings, bookings },
  };
}
