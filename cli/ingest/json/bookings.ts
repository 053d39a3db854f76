// Bookings from JSON: the read-only fields, or the webhooks of Cal.com and Calendly, in the order of events.
import type { BookingEntry } from '../../../db/ingest/bookings.ts';
import { bookings } from '../../../db/model/resources/bookings.ts';
import type { FaultList, ReadEntries } from '../entries.ts';
import { isCalCom, readCalCom } from './cal-com.ts';
import { isCalendly, readCalendly } from './calendly.ts';
import { declared, declaredEntry } from './declared.ts';
import { ForeignJson } from './foreign.ts';
import { type JsonItem, readJson } from './json-reader.ts';

const BOOKING = declared(bookings);

/** Reads bookings from JSON; returns them at the end, in the order of events. */
export const readBookings: ReadEntries<BookingEntry> = async function* (chunks, name, findings) {
  const entries = readJson(chunks, name, findings.faults, (item) => {
    const entry = readBooking(item, findings.faults);
    if (entry === null) findings.ignored += 1;
    return entry ?? undefined;
  });
  yield* inOrderOfEvents(await Array.fromAsync(entries));
};

function readBooking(item: JsonItem, faults: FaultList): BookingEntry | null | undefined {
  const { line, value } = item;
  const read = isCalCom(value) ? readCalCom : isCalendly(value) ? readCalendly : undefined;
  if (read === undefined) {
    const entry = declaredEntry(item, BOOKING, faults);
    return entry && { ...entry, event: null, at: null, replaces: null, meetingExternalId: null };
  }
  const before = faults.faults.length;
  const entry = read(value, new ForeignJson(value, line, faults));
  return faults.faults.length === before ? entry && { line, ...entry } : undefined;
}

// Webhooks may be delivered late; an entry without a time stays after the previous one.
function inOrderOfEvents(entries: readonly BookingEntry[]): BookingEntry[] {
  let latest = Number.NEGATIVE_INFINITY;
  const timed = entries.map((entry) => {
    latest = entry.at ?? latest;
    return { entry, at: latest };
  });
  return timed.sort((a, b) => (a.at === b.at ? 0 : a.at - b.at)).map(({ entry }) => entry);
}
