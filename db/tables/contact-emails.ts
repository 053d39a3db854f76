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
    .where('email_key', '=', param('key'))
    .where('contact_id', '=', param('contact')),
);

/** A contact's addresses, of which none may belong to another one: those it has had so far, and those it is to have. */
export interface ContactAddresses {
  id: string;
  before: readonly string[];
  after: readonly string[];
}

/** Makes the rows of contacts say what their fields say. */
export async function replaceContactEmails(
  trx: Db,
  orgId: number,
  contacts: readonly ContactAddresses[],
): Promise<void> {
  const rows: Row[] = [];
  for (const { id, before, after } of contacts) {
    const former = before.map(caselessKey);
    const keys = after.map(caselessKey);
    for (const key of former) if (!keys.includes(key)) await removal(trx, { org: orgId, key, contact: id });
    for (const key of keys)
      if (!former.includes(key)) rows.push({ org_id: orgId, email_key: key, contact_id: id });
  }
  await insert(trx, rows);
}
