// Who an email belongs to: one row for each address, primary or alternative, of a contact.
import { isObject, type JsonValue } from '../declare/json.ts';
import type { Row } from '../declare/resource.ts';
import { caselessKey } from '../declare/text.ts';
import { insertion } from '../insertion.ts';
import type { Db } from '../schema.ts';
import { statement } from '../statement.ts';

const owner = statement<{ contact_id: string }>((db, param) =>
  db
    .selectFrom('contact_emails')
    .select('contact_id')
    .where('org_id', '=', param('org'))
    .where('email_key', '=', param('email')),
);

/** The contacts that the emails belong to: lower-case email → contact id. */
export async function findContactsByEmail(
  db: Db,
  orgId: number,
  emails: readonly string[],
): Promise<Map<string, string>> {
  const keys = [...new Set(emails.map(caselessKey))];
  const found = new Map<string, string>();
  for (const email of keys) {
    const contactId = (await owner(db, { org: orgId, email }))[0]?.contact_id;
    if (contactId !== undefined) found.set(email, contactId);
  }
  return found;
}

/** The emails of a person, or of a list of people, as records hold them. */
export function emailsOf(people: JsonValue | undefined): string[] {
  if (typeof people === 'string') return [people];
  if (Array.isArray(people)) return people.flatMap(emailsOf);
  return isObject(people) && typeof people.email === 'string' ? [people.email] : [];
}

const insert = insertion('contact_emails', ['org_id', 'email_key', 'contact_id']);

const removal = statement<never>((db, param) =>
  db
    .deleteFrom('contact_emails')
    .where('org_id', '=', param('org'))
    .where('contact_id', '=', param('contact')),
);

/** A contact, with its addresses as its fields have them: each once. */
export interface ContactAddresses {
  id: string;
  email: string | null;
  altEmails: readonly string[];
  isNew: boolean;
}

/** Makes the rows of contacts say what their fields say; none may belong to another contact. */
export async function replaceContactEmails(
  trx: Db,
  orgId: number,
  contacts: readonly ContactAddresses[],
): Promise<void> {
  const rows: Row[] = [];
  for (const { id, email, altEmails, isNew } of contacts) {
    if (!isNew) await removal(trx, { org: orgId, contact: id });
    for (const address of email === null ? altEmails : [...altEmails, email])
      rows.push({ org_id: orgId, email_key: caselessKey(address), contact_id: id });
  }
  await insert(trx, rows);
}
