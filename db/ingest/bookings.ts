// Bookings from scheduling tools: their state, or events that can arrive in any order.

import type { RecordRow } from '../engine/schema.ts';
import type { Data } from '../model/json.ts';
import { showRow } from '../model/record-forms.ts';
import { bookings } from '../model/resources/bookings.ts';
import { findByExternalIds } from '../records/external-ids.ts';
import type { Store } from '../store.ts';
import { emailsOf } from '../tables/contact-emails.ts';
import {
  type IngestEntry,
  type IngestOptions,
  type IngestReport,
  type IngestTransaction,
  ingestAll,
  logEvent,
  type Outcome,
  recordOutcome,
  type StoredEntry,
  upsertOwned,
} from './ingest-transaction.ts';
import { findMeeting } from './recorded-meeting.ts';

export interface BookingEntry extends IngestEntry {
  /** The event; null if the entry contains the booking's state, which is stored unchanged. */
  event: 'created' | 'rescheduled' | 'cancelled' | null;
  /** When it happened, Unix milliseconds. */
  at: number | null;
  /** The booking that this one replaces. */
  replaces: Data | null;
  meetingExternalId: string | null;
}

// The order of states: an earlier event that arrives later does not change a later state.
const STAGES = ['booked', 'rescheduled', 'cancelled'];

/** Stores bookings, in order. */
export function ingestBookings(
  store: Store,
  options: IngestOptions,
  items: AsyncIterable<BookingEntry> | Iterable<BookingEntry>,
): Promise<IngestReport> {
  return ingestAll(store, options, {
    items,
    write: (transaction, entry) => recordOutcome(transaction, entry, () => writeBooking(transaction, entry)),
  });
}

async function writeBooking(transaction: IngestTransaction, entry: BookingEntry): Promise<Outcome> {
  const previousId = entry.replaces === null ? null : String(entry.replaces.external_id);
  const externalId = String(entry.data.external_id);
  const ids = previousId === null ? [externalId] : [externalId, previousId];
  const stored = await findByExternalIds(transaction.trx, bookings, transaction.orgNumber, ids);
  const previous = previousId === null ? undefined : stored.get(previousId);
  const data = { ...entry.data, ...(await meetingField(transaction, entry)) };
  const written = await write(transaction, entry, data, stored.get(externalId));
  if (entry.replaces !== null) {
    const moved = await write(transaction, entry, onlyNews(entry.replaces, previous), previous);
    if (moved.outcome !== 'unchanged') transaction.report[moved.outcome] += 1;
  }
  // A moved booking is logged once, under its first ID.
  if (previous === undefined) await logBooking(transaction, entry, written.row, previousId ?? externalId);
  return written.outcome;
}

async function meetingField(
  { trx, orgNumber }: IngestTransaction,
  { meetingExternalId: id }: BookingEntry,
): Promise<Data> {
  const meeting = id === null ? undefined : await findMeeting(trx, { orgNumber, id });
  return meeting === undefined ? {} : { meeting_id: meeting.id };
}

function write(
  transaction: IngestTransaction,
  { event }: BookingEntry,
  given: Data,
  existing: RecordRow | undefined,
): Promise<StoredEntry> {
  const isLate = event !== null && existing !== undefined && stageOf(given.status) < stageOf(existing.status);
  const data = isLate ? onlyNews(given, existing) : { ...given };
  if (data.attendee !== undefined) data.attendee_email = emailsOf(data.attendee)[0] ?? null;
  return upsertOwned(transaction, bookings, data, existing);
}

function stageOf(status: unknown): number {
  return STAGES.indexOf(String(status));
}

// Only what the record does not know yet; its state only moves forward.
function onlyNews(data: Data, existing: RecordRow | undefined): Data {
  if (existing === undefined) return { ...data };
  const known = showRow(bookings.fields, { ...existing });
  const isNews = ([name, value]: [string, unknown]): boolean => {
    if (name === 'status') return stageOf(value) > stageOf(known.status);
    const current = known[name];
    return current === null || (Array.isArray(current) && current.length === 0);
  };
  return Object.fromEntries(Object.entries(data).filter(isNews));
}

async function logBooking(
  transaction: IngestTransaction,
  { event, at }: BookingEntry,
  row: RecordRow,
  externalId: string,
): Promise<void> {
  const { now } = transaction;
  const { title, status, start_time, attendee, guests, cancellation_reason } = showRow(bookings.fields, {
    ...row,
  });
  const isCancelled = event === 'cancelled' || (event === null && status === 'cancelled');
  await logEvent(transaction, {
    type: isCancelled ? 'BOOKING_CANCELLED' : 'BOOKING_CREATED',
    title: String(title || 'Booking'),
    summary: isCancelled && typeof cancellation_reason === 'string' ? cancellation_reason : null,
    // Not later than now or the appointment.
    interactionDate: Math.min(at ?? Number(start_time ?? now), now),
    primaryId: externalId,
    emails: [...emailsOf(attendee), ...emailsOf(guests)],
    ownerId: row.owner_id,
  });
}
