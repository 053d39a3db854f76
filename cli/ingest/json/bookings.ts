// Bookings from JSON: the read-only fields, or the webhooks of Cal.com and Calendly, in the order of what happened.
import type { BookingEntry } from '../../../db/ingest/bookings.ts';
import { bookings } from '../../../db/resources/bookings.ts';
import { FaultList, type Parsed } from '../entries.ts';
import { isCalCom, readCalCom } from './cal-com.ts';
import { isCalendly, readCalendly } from './calendly.ts';
import { declared, declaredEntry } from './declared.ts';
import { type JsonItem, readJsonItems } from './items.ts';

const BOOKING = declared(bookings);

/** Reads bookings from JSON; throws a CliError if the file holds no JSON at all. */
export function parseBookings(bytes: Uint8Array, name: string): Parsed<BookingEntry> {
  const faults = new FaultList();
  const entries: BookingEntry[] = [];
  let ignored = 0;
  for (const item of readJsonItems(bytes, name, faults)) {
    const entry = readBooking(item, faults);
    if (entry === null) ignored += 1;
    else if (entry !== undefined) entries.push(entry);
  }
  return { entries: inOrderOfEvents(entries), faults: faults.faults, ignored };
}

function readBooking(item: JsonItem, faults: FaultList): BookingEntry | null | undefined {
  const { line, value } = item;
  if (isCalCom(value)) return readCalCom(value, line, faults);
  if (isCalendly(value)) return readCalendly(value, line, faults);
  const entry = declaredEntry(item, BOOKING, faults);
  return entry && { ...entry, event: null, at: null, replaces: null, meetingExternalId: null };
}

// Webhooks may be delivered late; an entry that tells no time keeps its place behind the one before it.
function inOrderOfEvents(entries: readonly BookingEntry[]): BookingEntry[] {
  let latest = Number.NEGATIVE_INFINITY;
  const timed = entries.map((entry) => {
    latest = entry.at ?? latest;
    return { entry, at: latest };
  });
  return timed.sort((a, b) => (a.at === b.at ? 0 : a.at - b.at)).map(({ entry }) => entry);
}
