// Where an organization's records mention a person: no index covers that, so everything is read in pieces.
import { sql } from 'kysely';
import { readRows } from '../copy/rows.ts';
import { type Db, type RecordRow, tableOf } from '../engine/schema.ts';
import { nextTurn } from '../event-loop.ts';
import { EXTERNAL_IDS } from '../model/external-ids.ts';
import type { Field } from '../model/fields.ts';
import { type Data, isObject, type JsonValue } from '../model/json.ts';
import type { Resource } from '../model/resource.ts';
import { RESOURCES } from '../model/resources/registry.ts';
import { type DataSubject, isPerson, personName, type RecordIds } from './person.ts';

/** A field of a record that contains an address. */
export interface Mention {
  resource: string;
  id: string;
  field: string;
  /** Whether the address is next to "-" or "_", and so could be part of a longer one. */
  is_doubtful: boolean;
}

/** Where a person was found. */
export interface Mentions {
  /** Where these records contain an address. */
  places: Mention[];
  /** Records that mention an address, or list the person as an organizer, an attendee or a guest. */
  mentioned: RecordIds;
  /** IDs of recordings in whose transcripts the person speaks or is mentioned. */
  transcripts: Set<string>;
  /** Names of the person, in lower case: from the contact, and next to an address. */
  names: Set<string>;
  /** Meetings that the person was invited to, whose speakers can lack an address. */
  meetings: Set<string>;
}

/** Columns of a record as stored, without the keys for looking them up. */
export function storedColumns({ fields }: Pick<Resource, 'fields'>): string[] {
  return Object.entries(fields).flatMap(([name, { column, access }]) =>
    column === null || access === 'input' ? [] : [name],
  );
}

const BESIDE_RECORDS = ['recording_transcripts', EXTERNAL_IDS] as unknown as 'records'[];

/** How many rows `findMentions` reads. */
export async function countSearchedRows(db: Db, orgNumber: number): Promise<number> {
  let rows = 0;
  for (const table of [...RESOURCES.map(tableOf), ...BESIDE_RECORDS]) {
    const query = db.selectFrom(table).select((eb) => eb.fn.countAll<number>().as('total'));
    rows += Number((await query.where('org_id', '=', orgNumber).executeTakeFirst())?.total ?? 0);
  }
  return rows;
}

/** Reads all records and transcripts of the organization. */
export async function findMentions(
  db: Db,
  person: DataSubject,
  onProgress: (rows: number) => void,
): Promise<Mentions> {
  const names = new Set([personName(person)].filter((name) => name !== ''));
  const traces: Mentions = {
    ...{ mentioned: new Map(), places: [], transcripts: new Set(), names, meetings: new Set() },
  };
  for (const resource of RESOURCES) {
    const ids = new Set<string>();
    const table = { name: resource.name, columns: storedColumns(resource), key: ['id'] };
    const only = sql`org_id = ${person.orgNumber}`;
    for await (const rows of readRows(db, { ...table, only })) {
      for (const row of rows as RecordRow[]) {
        if (isMentioned(person, resource, row, traces)) ids.add(row.id);
      }
      onProgress(rows.length);
    }
    if (ids.size > 0) traces.mentioned.set(resource.name, ids);
  }
  await findExternalIds(db, person, traces, onProgress);
  await findTranscripts(db, person, traces, onProgress);
  return traces;
}

// Other systems can use addresses as IDs.
async function findExternalIds(
  db: Db,
  { orgNumber, addresses }: DataSubject,
  { mentioned, places }: Mentions,
  onProgress: (rows: number) => void,
): Promise<void> {
  const columns = ['resource', 'source', 'external_id', 'record_id'];
  const table = { name: EXTERNAL_IDS, columns, key: columns.slice(0, 3) };
  for await (const rows of readRows(db, { ...table, only: sql`org_id = ${orgNumber}` })) {
    for (const row of rows) {
      const [resource, text, id] = [String(row.resource), String(row.external_id), String(row.record_id)];
      if (!addresses.isIn(text)) continue;
      mentioned.getOrInsertComputed(resource, () => new Set()).add(id);
      places.push({ resource, id, field: EXTERNAL_IDS, is_doubtful: addresses.isDoubtfulIn(text) });
    }
    onProgress(rows.length);
  }
}

// Also notes where, and the person's names there.
function isMentioned(
  person: DataSubject,
  { fields, name }: Resource,
  row: RecordRow,
  traces: Mentions,
): boolean {
  let isFound = false;
  for (const column in row) {
    const stored = row[column];
    const field = fields[column];
    if (typeof stored !== 'string' || field === undefined) continue;
    const value = decoded(field, stored);
    const isById = field.kind === 'json' && person.contactId !== '' && stored.includes(person.contactId);
    const isThere = person.addresses.isInValue(value, holdsAddresses(column, field));
    if (!isById && !isThere) continue;
    isFound = true;
    const is_doubtful = typeof value === 'string' && person.addresses.isDoubtfulIn(value);
    if (isThere) traces.places.push({ resource: name, id: row.id, field: column, is_doubtful });
    if (field.kind !== 'json') continue;
    for (const { name: called } of theirsIn(person, value))
      if (typeof called === 'string' && called.trim() !== '') traces.names.add(called.trim().toLowerCase());
    if (name === 'meetings') traces.meetings.add(row.id);
  }
  return isFound;
}

/** The value of a field: in JSON text a line break before an address looks like a letter. */
export function decoded(field: Field, stored: string): JsonValue {
  return ['json', 'custom', 'emails'].includes(field.kind) ? field.decode(stored) : stored;
}

/** Whether a field contains only addresses, so that an address with the same ending does not match. */
export function holdsAddresses(name: string, { kind }: Pick<Field, 'kind'>): boolean {
  return kind === 'email' || kind === 'emails' || kind === 'json' || name === 'attendee_email';
}

function theirsIn(person: DataSubject, value: JsonValue): Data[] {
  if (Array.isArray(value)) return value.flatMap((item) => theirsIn(person, item));
  return isPerson(person, value) ? [value] : [];
}

// One by one, because each can have any length.
async function findTranscripts(
  db: Db,
  person: DataSubject,
  traces: Mentions,
  onProgress: (rows: number) => void,
): Promise<void> {
  const { orgNumber } = person;
  const ids = await db
    .selectFrom('recording_transcripts')
    .select('recording_id')
    .where('org_id', '=', orgNumber)
    .execute();
  for (const { recording_id: id } of ids) {
    const speaks = await speakerTest(db, person, id, traces);
    const segments = await findSegments(db, orgNumber, id);
    if (segments.some((one) => speaks(one) || person.addresses.isInValue(one))) traces.transcripts.add(id);
    onProgress(1);
    await nextTurn();
  }
}

/** The segments of a transcript. */
export async function findSegments(db: Db, orgNumber: number, recordingId: string): Promise<Data[]> {
  const row = await db
    .selectFrom('recording_transcripts')
    .select('segments')
    .where('org_id', '=', orgNumber)
    .where('recording_id', '=', recordingId)
    .executeTakeFirst();
  const segments: JsonValue = row === undefined ? [] : JSON.parse(row.segments);
  return Array.isArray(segments) ? segments.filter((one): one is Data => isObject(one)) : [];
}

/** Returns a test whether a segment is the person's: by address, or by name in a meeting the person was invited to. */
export async function speakerTest(
  db: Db,
  person: DataSubject,
  recordingId: string,
  { names, meetings }: Pick<Mentions, 'names' | 'meetings'>,
): Promise<(segment: Data) => boolean> {
  const recording = await db
    .selectFrom(tableOf({ name: 'recordings' }))
    .select('meeting_id' as 'id')
    .$castTo<{ meeting_id: string | null }>()
    .where('org_id', '=', person.orgNumber)
    .where('id', '=', recordingId)
    .executeTakeFirst();
  const isTheirMeeting = meetings.has(recording?.meeting_id ?? '');
  return ({ speaker }) => {
    if (isPerson(person, speaker)) return true;
    if (!isTheirMeeting || !isObject(speaker) || typeof speaker.name !== 'string') return false;
    return speaker.email === null && names.has(speaker.name.trim().toLowerCase());
  };
}
