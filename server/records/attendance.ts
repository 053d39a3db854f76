// People in calendars: whose contact an attendee is follows from the email, as contacts are now.

import type { Data, JsonValue } from '../../db/declare/json.ts';
import { caselessKey } from '../../db/declare/text.ts';
import { contacts } from '../../db/resources/contacts.ts';
import { findContactsByEmail } from '../../db/tables/contact-emails.ts';
import { findRecords } from '../../db/tables/records.ts';
import { canSee } from '../access.ts';
import type { Reader } from './rules.ts';

/** Gives every attendee its contact_id: the contact with that email that the reader sees, or null. */
export async function fillContactIds(reader: Reader, attendees: readonly Data[]): Promise<void> {
  const emails = attendees.flatMap((attendee) =>
    typeof attendee.email === 'string' ? [attendee.email] : [],
  );
  const owners = await visibleContacts(reader, emails);
  for (const attendee of attendees) {
    const email = typeof attendee.email === 'string' ? caselessKey(attendee.email) : '';
    attendee.contact_id = owners.get(email) ?? null;
  }
}

async function visibleContacts(reader: Reader, emails: string[]): Promise<Map<string, string>> {
  const { db, access } = reader;
  const owners = await findContactsByEmail(db, access.orgId, emails);
  if (access.userId === null) return owners;
  const rows = await findRecords(db, contacts, access.orgId, [...new Set(owners.values())]);
  const visible = new Set(rows.filter((row) => canSee(access, contacts, row)).map((row) => row.id));
  return new Map([...owners].filter(([, id]) => visible.has(id)));
}

/** The objects in a JSON value that is a list of them. */
export function objectsIn(value: JsonValue | undefined): Data[] {
  if (!Array.isArray(value)) return [];
  return value.filter(
    (item): item is Data => typeof item === 'object' && item !== null && !Array.isArray(item),
  );
}
