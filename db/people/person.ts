// A person in an organization: the contact with an address, all its addresses, and the records linked to it.

import { findUserByEmail } from '../accounts/accounts.ts';
import { type Db, linkTable, tableOf, type UserRow } from '../engine/schema.ts';
import type { Field } from '../model/fields.ts';
import { type Data, isObject, type JsonValue } from '../model/json.ts';
import { showRow } from '../model/record-forms.ts';
import type { Resource } from '../model/resource.ts';
import { contacts } from '../model/resources/contacts.ts';
import { RESOURCES } from '../model/resources/registry.ts';
import { columnsTo } from '../records/dependents.ts';
import { findRecord } from '../records/records.ts';
import { emailsOf, findContactsByEmail } from '../tables/contact-emails.ts';
import { AddressSet } from './email-addresses.ts';

export interface DataSubject {
  orgNumber: number;
  /** The requested address, and all others of the contact. */
  addresses: AddressSet;
  /** The contact as in a response; null if no contact has the address. */
  contact: Data | null;
  /** Its ID; '' if there is none. */
  contactId: string;
  /** Users of crm itself with one of the addresses, who are not contacts. */
  users: UserRow[];
}

/** The person with an address; case-insensitive. */
export async function findPerson(db: Db, orgNumber: number, email: string): Promise<DataSubject> {
  const [contactId = ''] = (await findContactsByEmail(db, orgNumber, [email])).values();
  const row = contactId === '' ? undefined : await findRecord(db, contacts, { orgNumber, id: contactId });
  const contact = row === undefined ? null : showRow(contacts.fields, row);
  const own = [contact?.email, contact?.alt_emails].flatMap((value) => emailsOf(value));
  const addresses = new AddressSet([email, ...own]);
  const users = await Promise.all(addresses.list.map((one) => findUserByEmail(db, orgNumber, one)));
  return { orgNumber, addresses, contact, contactId, users: users.filter((user) => user !== undefined) };
}

/** Whether an object that describes someone, such as an attendee, is the person. */
export function isPerson({ addresses, contactId }: DataSubject, value: JsonValue | undefined): value is Data {
  if (!isObject(value)) return false;
  return addresses.has(value.email) || (contactId !== '' && value.contact_id === contactId);
}

/** The full name of the contact, in lower case; '' if there is no name. */
export function personName({ contact }: DataSubject): string {
  return [contact?.first_name, contact?.last_name]
    .filter((part) => typeof part === 'string')
    .join(' ')
    .trim()
    .toLowerCase();
}

/** IDs of records, by resource. */
export type RecordIds = Map<string, Set<string>>;

/** The records linked to the contact by a reference or a link, found through indexes. */
export async function findTiedRecords(db: Db, { orgNumber, contactId }: DataSubject): Promise<RecordIds> {
  const tied: RecordIds = new Map();
  if (contactId === '') return tied;
  for (const resource of RESOURCES) {
    const ids = new Set<string>();
    for (const column of columnsTo(contacts, resource.fields)) {
      const query = db.selectFrom(tableOf(resource)).select('id').where('org_id', '=', orgNumber);
      for (const { id } of await query.where(column, '=', contactId).execute()) ids.add(id);
    }
    for (const { table, id, column } of tiesOf(resource)) {
      const query = db.selectFrom(linkTable(table)).select(id).where('org_id', '=', orgNumber);
      for (const row of await query.where(column, '=', contactId).execute()) ids.add(String(row[id]));
    }
    if (ids.size > 0) tied.set(resource.name, ids);
  }
  return tied;
}

/** A column with IDs of contacts in a table other than a resource's, and the column with the record's ID. */
interface Tie {
  table: string;
  id: string;
  column: string;
}

function tiesOf({ links, sideTables }: Resource): Tie[] {
  const sides: { table: string; parentColumn: string; columns: string[] }[] = [];
  for (const { table, parentColumn, childColumn, children } of [...Object.values(links), ...sideTables])
    if (Object.values(children).includes(contacts.name))
      sides.push({ table, parentColumn, columns: [childColumn] });
  for (const { table, parentColumn, fields } of Object.values(links))
    sides.push({ table, parentColumn, columns: columnsTo(contacts, fields as Record<string, Field>) });
  return sides.flatMap(({ table, parentColumn, columns }) =>
    columns.map((column) => ({ table, id: parentColumn, column })),
  );
}
