// Bookings: shown with the contact of the attendee.
import { fillContactIds, objectsIn } from './attendance.ts';
import type { Rules } from './rules.ts';

export const bookingRules: Rules = {
  async present(reader, records) {
    await fillContactIds(reader, objectsIn(records.map((record) => record.attendee ?? null)));
  },
};
