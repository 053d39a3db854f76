// People in calendars: the current contact of an attendee is found by email.
import { type Data, isObject, type JsonValue } from '../../db/model/json.ts';
import { contacts } from '../../db/model/resources/contacts.ts';
import { caselessKey } from '../../db/model/text.ts';
import { emailsOf, findContactsByEmail } from '../../db/tables/contact-emails.ts';
import { findVisibleIds } from './references.ts';
import type { Reader } from './rules.ts';

/** Sets the contact_id of every attendee: the contact with that email that the reader can see, or null. */
export async function fillContactIds(reader: Reader, attendees: readonly Data[]): Promise<void> {
  const owners = await visibleContacts(reader, emailsOf([...attendees]));
  for (const attendee of attendees) {
    const [email = ''] = emailsOf(attendee);
    attendee.contact_id = owners.get(caselessKey(email)) ?? null;
  }
}

async function visibleContacts(reader: Reader, emails: string[]): Promise<Map<string, string>> {
  const { db, access } = reader;
  const owners = await findContactsByEmail(db, access.orgNumber, emails);
  if (access.userId === null) return owners;
  const visible = await findVisibleIds(db, access, contacts, [...new Set(owners.values())]);
  return new Map([...owners].filter(([, id]) => visible.has(id)));
}

/** The objects in a JSON value that is a list of them. */
export function objectsIn(value: JsonValue | undefined): Data[] {
  return Array.isArray(value) ? value.filter((item): item is Data => isObject(item)) : [];
}
