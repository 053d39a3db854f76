// Who an email belongs to: one row for each address, primary or alternative, of a contact.
import { isObject, type JsonValue } from '../declare/json.ts';
import { caselessKey } from '../declare/text.ts';
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

const insertion = statement<never>((db, param) =>
  db.insertInto('contact_emails').values({
    org_id: param('org'),
    email_key: param('email'),
    contact_id: param('contact'),
    is_primary: param('primary'),
  }),
);

const removal = statement<never>((db, param) =>
  db
    .deleteFrom('contact_emails')
    .where('org_id', '=', param('org'))
    .where('contact_id', '=', param('contact')),
);

/** Makes the rows of a contact say what its fields say; none may belong to another contact. */
export async function replaceContactEmails(
  trx: Db,
  contact: { orgId: number; id: string; email: string | null; altEmails: readonly string[]; isNew: boolean },
): Promise<void> {
  const { orgId, id, email, altEmails } = contact;
  if (!contact.isNew) await removal(trx, { org: orgId, contact: id });
  const keys = new Map<string, number>();
  for (const alternative of altEmails) keys.set(caselessKey(alternative), 0);
  if (email !== null) keys.set(caselessKey(email), 1);
  for (const [key, primary] of keys) await insertion(trx, { org: orgId, email: key, contact: id, primary });
}
