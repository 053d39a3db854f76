// Owners of emails: one row for each address of a contact, primary or alternative.
import { sql } from 'kysely';
import { bulkInsert } from '../engine/bulk-insert.ts';
import type { Db, Trx } from '../engine/schema.ts';
import { lookup, statement } from '../engine/statement.ts';
import { isObject, type JsonValue } from '../model/json.ts';
import type { Row } from '../model/resource.ts';
import { caselessKey } from '../model/text.ts';

interface Owner {
  email_key: string;
  contact_id: string;
}

const owners = lookup<Owner>((db, param, isGiven) =>
  db
    .selectFrom('contact_emails')
    .select(['email_key', 'contact_id'])
    .where('org_id', '=', param('org'))
    .where(isGiven(sql.ref('email_key'))),
);

/** The contacts that own the emails, in their order: lower-case email → contact ID. */
export async function findContactsByEmail(
  db: Db,
  orgNumber: number,
  emails: readonly string[],
): Promise<Map<string, string>> {
  const keys = [...new Set(emails.map(caselessKey))];
  const rows = await owners(db, orgNumber, keys);
  const found = new Map(rows.map((row) => [row.email_key, row.contact_id]));
  return new Map(
    keys.flatMap((key) => {
      const contactId = found.get(key);
      return contactId === undefined ? [] : [[key, contactId]];
    }),
  );
}

/** The emails of a person, or of a list of people, as records contain them. */
export function emailsOf(people: JsonValue | undefined): string[] {
  if (typeof people === 'string') return [people];
  if (Array.isArray(people)) return people.flatMap(emailsOf);
  return isObject(people) && typeof people.email === 'string' ? [people.email] : [];
}

const insert = bulkInsert('contact_emails', ['org_id', 'email_key', 'contact_id']);

const removal = statement<never>((db, param) =>
  db
    .deleteFrom('contact_emails')
    .where('org_id', '=', param('org'))
    .where('email_key', '=', param('key'))
    .where('contact_id', '=', param('contact')),
);

/** The old and new addresses of a contact, which no other contact can have. */
export interface ContactAddresses {
  id: string;
  before: readonly string[];
  after: readonly string[];
}

/** Updates the rows of contacts to match their fields. */
export async function replaceContactEmails(
  trx: Trx,
  orgNumber: number,
  contacts: readonly ContactAddresses[],
): Promise<void> {
  const rows: Row[] = [];
  for (const { id, before, after } of contacts) {
    const former = before.map(caselessKey);
    const keys = after.map(caselessKey);
    for (const key of former)
      if (!keys.includes(key)) await removal(trx, { org: orgNumber, key, contact: id });
    for (const key of keys)
      if (!former.includes(key)) rows.push({ org_id: orgNumber, email_key: key, contact_id: id });
  }
  await insert(trx, rows);
}
