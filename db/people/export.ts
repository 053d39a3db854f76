// Everything about a person in an organization, as one document that can be given to the person.

import type { Db } from '../engine/schema.ts';
import { EXTERNAL_IDS } from '../model/external-ids.ts';
import type { Data, JsonValue } from '../model/json.ts';
import { showRow } from '../model/record-forms.ts';
import { contacts } from '../model/resources/contacts.ts';
import { getResource, RESOURCES } from '../model/resources/registry.ts';
import { listExternalIds, showExternalId } from '../records/record-external-ids.ts';
import { findRecords } from '../records/records.ts';
import { findMentions, findSegments, type Mention, type Mentions, speakerTest } from './mentions.ts';
import { type DataSubject, findTiedRecords, isPerson } from './person.ts';

/** All records that belong to a person or mention one, by resource; other people in them appear only as counts. */
export interface PersonDocument {
  addresses: readonly string[];
  /** With its external IDs. */
  contact: Data | null;
  /** Users of crm itself with one of the addresses. */
  users: Data[];
  records: Record<string, Data[]>;
  /** Which fields of these records contain an address of the person. */
  mentioned_in: Mention[];
  /** What the person said. */
  transcripts: { recording_id: string; segments: Data[] }[];
}

const RECORDS_PER_PAGE = 100;

/** Collects the document; reads the whole organization. */
export async function exportPerson(
  db: Db,
  person: DataSubject,
  onProgress: (rows: number) => void,
): Promise<PersonDocument> {
  const tied = await findTiedRecords(db, person);
  const traces = await findMentions(db, person, onProgress);
  const records: Record<string, Data[]> = {};
  for (const { name } of RESOURCES) {
    const ids = new Set([...(tied.get(name) ?? []), ...(traces.mentioned.get(name) ?? [])]);
    ids.delete(person.contactId);
    if (ids.size > 0) records[name] = await recordsOf(db, person, name, { ids: [...ids].toSorted(), traces });
  }
  return {
    addresses: person.addresses.list,
    contact: person.contact && { ...person.contact, external_ids: await externalIdsOf(db, person) },
    users: person.users.map(({ id, email, name, created_at }) => ({
      ...{ id, email, name, created_at: new Date(created_at).toISOString() },
    })),
    records,
    mentioned_in: traces.places.filter(({ id }) => id !== person.contactId),
    transcripts: await transcriptsOf(db, person, traces),
  };
}

async function recordsOf(
  db: Db,
  person: DataSubject,
  name: string,
  { ids, traces }: { ids: readonly string[]; traces: Mentions },
): Promise<Data[]> {
  const resource = getResource(name);
  const found: Data[] = [];
  for (let from = 0; from < ids.length; from += RECORDS_PER_PAGE) {
    const some = ids.slice(from, from + RECORDS_PER_PAGE);
    const rows = await findRecords(db, resource, person.orgNumber, some);
    const held = (await listExternalIds(db, resource, person.orgNumber, some)).filter(({ external_id }) =>
      person.addresses.isIn(external_id),
    );
    for (const row of rows) {
      const own = held.filter(({ record_id }) => record_id === row.id).map(showExternalId);
      const record = withoutOthers(person, showRow(resource.fields, row), name, traces);
      found.push(own.length === 0 || name === contacts.name ? record : { ...record, [EXTERNAL_IDS]: own });
    }
  }
  return found;
}

async function externalIdsOf(db: Db, { orgNumber, contactId }: DataSubject): Promise<Data[]> {
  const held = await listExternalIds(db, contacts, orgNumber, [contactId]);
  return held.map(showExternalId).toSorted((a, b) => (String(a.source) < String(b.source) ? -1 : 1));
}

// The person has no right to learn who the others are.
function withoutOthers(person: DataSubject, record: Data, resource: string, { places }: Mentions): Data {
  // Of another person's contact, only the fields with the address.
  if (resource === 'contacts') {
    const there = places.filter((place) => place.resource === resource && place.id === record.id);
    return { id: record.id ?? null, mentioned_in: there.map(({ field }) => field) };
  }
  const shown: Data = {};
  for (const [field, value] of Object.entries(record)) {
    if (field === 'organizer' || field === 'attendee') shown[field] = isPerson(person, value) ? value : null;
    else if (field === 'attendees' || field === 'guests') shown[field] = theirsAndCount(person, value);
    else shown[field] = value;
  }
  return shown;
}

function theirsAndCount(person: DataSubject, value: JsonValue): JsonValue {
  if (!Array.isArray(value)) return value;
  const theirs = value.filter((one) => isPerson(person, one) || person.addresses.has(one));
  return { theirs, others: value.length - theirs.length };
}

async function transcriptsOf(
  db: Db,
  person: DataSubject,
  traces: Mentions,
): Promise<PersonDocument['transcripts']> {
  const transcripts: PersonDocument['transcripts'] = [];
  for (const id of traces.transcripts) {
    const speaks = await speakerTest(db, person, id, traces);
    const segments = (await findSegments(db, person.orgNumber, id)).filter((segment) => speaks(segment));
    transcripts.push({ recording_id: id, segments });
  }
  return transcripts;
}
