// What happens to a record when a person is erased: deleted if it is about no one else, otherwise cleaned of the person.

import { type Db, linkTable, type RecordRow, tableOf } from '../engine/schema.ts';
import type { Field } from '../model/fields.ts';
import { type Data, isObject, type JsonValue } from '../model/json.ts';
import type { Resource, Row, SideTable } from '../model/resource.ts';
import { involvedContacts } from '../model/resources/interactions.ts';
import { notes } from '../model/resources/notes.ts';
import { changedColumns } from '../records/record-updates.ts';
import { ERASED } from './email-addresses.ts';
import { holdsAddresses, storedColumns } from './mentions.ts';
import { type DataSubject, isPerson } from './person.ts';

/** What to do with a record. */
export type RecordPlan =
  | { action: 'delete' }
  /** Empty if it only loses its link to the person. */
  | { action: 'change'; row: RecordRow; columns: Row };

/** The plan for a record that mentions a person or is linked to one; null if it no longer exists. */
export async function erasurePlan(
  db: Db,
  person: DataSubject,
  resource: Resource,
  id: string,
): Promise<RecordPlan | null> {
  const row = await db
    .selectFrom(tableOf(resource))
    .select(storedColumns(resource) as ['id'])
    .$castTo<RecordRow>()
    .where('org_id', '=', person.orgNumber)
    .where('id', '=', id)
    .executeTakeFirst();
  if (row === undefined) return null;
  const isOnlyTheirs = ONLY_THEIRS[resource.name];
  if (isOnlyTheirs !== undefined && (await isOnlyTheirs(db, person, row))) return { action: 'delete' };
  return { action: 'change', row, columns: changedColumns(resource, row, without(person, resource, row)) };
}

type Test = (db: Db, person: DataSubject, row: RecordRow) => Promise<boolean> | boolean;

/** Which records are about one person only. */
const ONLY_THEIRS: Record<string, Test> = {
  tasks: (_, { contactId }, { person_id, company_id, deal_id }) =>
    contactId !== '' && person_id === contactId && company_id === null && deal_id === null,
  notes: (db, person, { id }) =>
    Promise.all(Object.values(notes.links).map((link) => isTiedToThemAlone(db, person, link, id))).then(
      (all) => all.every((one) => one),
    ),
  interactions: (db, person, { id }) => isTiedToThemAlone(db, person, involvedContacts, id),
  bookings: (_, person, { attendee, guests }) => {
    const others = parsed(guests);
    const isOthers = Array.isArray(others) && others.some((guest) => !person.addresses.has(guest));
    return isPerson(person, parsed(attendee)) && !isOthers;
  },
};

function parsed(value: RecordRow[string] | undefined): JsonValue {
  return typeof value === 'string' ? JSON.parse(value) : null;
}

async function isTiedToThemAlone(
  db: Db,
  { orgNumber, contactId }: DataSubject,
  { table, parentColumn, childColumn }: SideTable,
  id: string,
): Promise<boolean> {
  if (contactId === '') return false;
  const ties = await db
    .selectFrom(linkTable(table))
    .select(childColumn)
    .where('org_id', '=', orgNumber)
    .where(parentColumn, '=', id)
    .limit(2)
    .execute();
  return ties.length === 1 && ties[0]?.[childColumn] === contactId;
}

// The fields that mention the person, with their new values.
function without(person: DataSubject, { fields }: Pick<Resource, 'fields'>, row: RecordRow): Data {
  const data: Data = {};
  for (const name of storedColumns({ fields })) {
    const field = fields[name];
    const stored = row[name];
    if (field === undefined || typeof stored !== 'string') continue;
    if (field.kind === 'text') {
      const text = textWithout(person, name, field, row);
      if (text !== stored) data[name] = text;
    } else if (field.kind === 'json' || field.kind === 'custom') {
      data[name] = withoutPerson(person, field.decode(stored), field.kind === 'json');
    }
  }
  return data;
}

function textWithout({ addresses }: DataSubject, name: string, field: Field, row: RecordRow): string | null {
  const text = String(row[name]);
  if (!addresses.isInValue(text, holdsAddresses(name, field))) return text;
  // Identifies the record for later imports, so it must be unique.
  if (name === 'external_id') return `erased-${row.id}`;
  return addresses.has(text) && field.nullable ? null : addresses.takenOutOf(text);
}

/**
 * A value without the person's addresses and, if it describes people, without the person.
 * @param isOfPeople whether its objects are people, and the texts in its lists their addresses
 */
export function withoutPerson(person: DataSubject, value: JsonValue, isOfPeople: boolean): JsonValue {
  const { addresses } = person;
  if (typeof value === 'string')
    return isOfPeople ? addresses.takenOutAt(value) : addresses.takenOutOf(value);
  if (Array.isArray(value)) {
    const others = isOfPeople ? value.filter((item) => !addresses.has(item)) : value;
    return others.map((item) => withoutPerson(person, item, isOfPeople));
  }
  if (!isObject(value)) return value;
  if (isOfPeople && isPerson(person, value)) return anonymousPerson(value);
  const left: Data = {};
  for (const [key, item] of Object.entries(value)) {
    const name = addresses.takenOutOf(key);
    left[name === key ? key : freeName(name, value, left)] = withoutPerson(person, item, isOfPeople);
  }
  return left;
}

// Two keys that are addresses must not become equal.
function freeName(name: string, ...taken: readonly Data[]): string {
  const isTaken = (one: string) => taken.some((data) => Object.hasOwn(data, one));
  let free = name;
  for (let count = 2; isTaken(free); count++) free = `${name} ${count}`;
  return free;
}

/** A person without any details. */
export function anonymousPerson(someone: Data): Data {
  return Object.fromEntries(Object.keys(someone).map((key) => [key, key === 'name' ? ERASED : null]));
}
