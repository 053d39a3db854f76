// Bookings from scheduling tools: their state, or what happened to them, which may arrive in any order.
import type { Data } from '../declare/json.ts';
import { bookings } from '../resources/bookings.ts';
import type { Db, RecordRow } from '../schema.ts';
import type { Store } from '../store.ts';
import {
  emailOf,
  findByExternalIds,
  findMeeting,
  type IngestEntry,
  type IngestOptions,
  type IngestReport,
  IngestRun,
  logEvent,
  type Outcome,
  ownerOf,
  recordIn,
  upsert,
} from './desk.ts';
import { emailsIn, textOr } from './meetings.ts';

export interface BookingEntry extends IngestEntry {
  /** What happened; null where the entry tells the booking's state, which then counts as it is. */
  event: 'created' | 'rescheduled' | 'cancelled' | null;
  /** When it happened, Unix milliseconds. */
  at: number | null;
  /** The booking that this one was moved from. */
  replaces: Data | null;
  meetingExternalId: string | null;
}

// A booking goes this way only: what happened earlier but is told later changes nothing that came after it.
const STAGES = ['booked', 'rescheduled', 'cancelled'];

/** Stores bookings, in order. */
export function ingestBookings(
  store: Store,
  options: IngestOptions,
  entries: readonly BookingEntry[],
): Promise<IngestReport> {
  const run = new IngestRun(options);
  return run.writeAll(
    store,
    entries,
    () => 1,
    (trx, entry) => run.settle(entry.line, () => writeBooking(trx, run, entry)),
  );
}

async function writeBooking(trx: Db, run: IngestRun, entry: BookingEntry): Promise<Outcome> {
  const previousId = entry.replaces === null ? null : String(entry.replaces.external_id);
  const externalId = String(entry.data.external_id);
  const ids = previousId === null ? [externalId] : [externalId, previousId];
  const stored = await findByExternalIds(trx, bookings, run.options.orgId, ids);
  const previous = previousId === null ? undefined : stored.get(previousId);
  const data = { ...entry.data, ...(await meetingField(trx, run, entry)) };
  const written = await write(trx, run, entry, data, stored.get(externalId));
  if (entry.replaces !== null) {
    const moved = await write(trx, run, entry, onlyNews(entry.replaces, previous), previous);
    if (moved.outcome !== 'unchanged') run.report[moved.outcome] += 1;
  }
  // A moved booking was made once; it is logged under the id that it had first.
  if (previous === undefined) await logBooking(trx, run, entry, written.row, previousId ?? externalId);
  return written.outcome;
}

async function meetingField(trx: Db, run: IngestRun, entry: BookingEntry): Promise<Data> {
  if (entry.meetingExternalId === null) return {};
  const meeting = await findMeeting(trx, run.options.orgId, entry.meetingExternalId);
  return meeting === undefined ? {} : { meeting_id: meeting.id };
}

async function write(
  trx: Db,
  run: IngestRun,
  entry: BookingEntry,
  given: Data,
  existing: RecordRow | undefined,
): Promise<{ row: RecordRow; outcome: Outcome }> {
  const isLate =
    entry.event !== null && existing !== undefined && stageOf(given.status) < stageOf(existing.status);
  const data = isLate ? onlyNews(given, existing) : { ...given };
  if (data.attendee !== undefined) data.attendee_email = emailOf(data.attendee);
  const owner = await ownerOf(trx, run, data, existing);
  if (owner !== undefined) data.owner_id = owner;
  return upsert(trx, run, bookings, data, existing);
}

function stageOf(status: unknown): number {
  return STAGES.indexOf(String(status));
}

// What the record does not know yet; its state moves forward only.
function onlyNews(data: Data, existing: RecordRow | undefined): Data {
  if (existing === undefined) return { ...data };
  const known = recordIn(bookings, existing);
  const isNews = ([name, value]: [string, unknown]): boolean => {
    if (name === 'status') return stageOf(value) > stageOf(known.status);
    const current = known[name];
    return current === null || (Array.isArray(current) && current.length === 0);
  };
  return Object.fromEntries(Object.entries(data).filter(isNews));
}

async function logBooking(
  trx: Db,
  run: IngestRun,
  entry: BookingEntry,
  row: RecordRow,
  externalId: string,
): Promise<void> {
  const { now } = run.options;
  const booking = recordIn(bookings, row);
  const isCancelled = entry.event === 'cancelled' || (entry.event === null && booking.status === 'cancelled');
  // It happened before it was told, and before the appointment.
  const date = Math.min(entry.at ?? Number(booking.start_time ?? now), now);
  await logEvent(trx, run, {
    type: isCancelled ? 'BOOKING_CANCELLED' : 'BOOKING_CREATED',
    title: textOr(booking.title, 'Booking'),
    summary:
      isCancelled && typeof booking.cancellation_reason === 'string' ? booking.cancellation_reason : null,
    date,
    externalId,
    emails: [...emailsIn(booking.attendee), ...emailsIn(booking.guests)],
    ownerId: typeof row.owner_id === 'string' ? row.owner_id : null,
  });
}
