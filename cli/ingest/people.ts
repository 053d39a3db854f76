// People in calendars and bookings: with a name or an email, without duplicates.
import { caselessKey } from '../../db/model/text.ts';

/** An organizer, attendee or guest; at least one of the two is known. */
export interface Person {
  name: string | null;
  email: string | null;
}

/** The people who have a name or an email, each email once. */
export function uniquePeople(people: readonly Person[]): Person[] {
  const seen = new Set<string>();
  return people.filter(({ name, email }) => {
    if (email === null) return name !== null;
    const key = caselessKey(email);
    return seen.has(key) ? false : seen.add(key);
  });
}
