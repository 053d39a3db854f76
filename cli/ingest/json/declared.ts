// Checks the entries of a JSON file against the declaration of their resource.
import type { TSchema } from 'typebox';
import type { IngestEntry } from '../../../db/ingest/ingest-transaction.ts';
import { faultsOf } from '../../../db/model/check.ts';
import { type Fault, firstFaults, formatFault, keyPath } from '../../../db/model/faults.ts';
import { type Field, text } from '../../../db/model/fields.ts';
import type { Data, JsonValue } from '../../../db/model/json.ts';
import { isObject } from '../../../db/model/json.ts';
import type { Resource } from '../../../db/model/resource.ts';
import { bodySchema } from '../../../db/model/schemas.ts';
import type { FaultList } from '../entries.ts';
import { instantIn } from './foreign.ts';
import type { JsonItem } from './json-reader.ts';

/** The fields that a file may contain. */
export interface Declared {
  fields: Readonly<Record<string, Field>>;
  schema: TSchema;
  /** Fields that the service sets: accepted, so that exported files can be ingested, but ignored. */
  shownOnly: ReadonlySet<string>;
  /** Faults beyond the fields'. */
  inspect: (data: Data) => Fault[];
}

const SET_BY_SERVICE = ['id', 'created_by', 'created_at', 'updated_at', 'has_transcript'];
// Fields with people; their contacts are looked up whenever a record is read.
const PEOPLE = new Set(['organizer', 'attendee', 'attendees']);

/** The fields that a file may contain for a resource: stored fields, and `extra` ones that determine them. */
export function declared(
  resource: Resource,
  extra: Record<string, Field> = {},
  inspect: (data: Data) => Fault[] = () => [],
): Declared {
  const all = Object.entries(resource.fields);
  const isSet = ([name, { column }]: [string, Field]) => column === null || SET_BY_SERVICE.includes(name);
  const settable = all.filter((one) => one[1].access !== 'internal' && !isSet(one));
  const fields = { ...Object.fromEntries(settable), external_id: text({ required: true }), ...extra };
  return {
    fields,
    schema: bodySchema(fields, () => true, true),
    shownOnly: new Set(all.filter(isSet).map(([name]) => name)),
    inspect: (data) => [...endBeforeStart('', data), ...inspect(data)],
  };
}

/** A valid entry, converted for storage; undefined, with every fault reported, if it is invalid. */
export function declaredEntry(
  { line, value }: JsonItem,
  declaration: Declared,
  faults: FaultList,
): IngestEntry | undefined {
  const found: Fault[] = [];
  const given: Data = Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => {
      if (declaration.shownOnly.has(name)) return [];
      const accepted = acceptedValue(name, declaration.fields[name], one);
      if (accepted !== undefined) return [[name, accepted]];
      found.push(formatFault(name, 'date-time'));
      return [];
    }),
  );
  found.push(...faultsOf(given, declaration, { entriesMax: Number.POSITIVE_INFINITY }));
  faults.refuse(line, firstFaults(found));
  if (found.length > 0) return undefined;
  const data = Object.entries(given).map(([name, one]) => [
    name,
    PEOPLE.has(name) ? mapEach(one, withoutContact) : one,
  ]);
  return { line, data: Object.fromEntries(data) };
}

/** The fault of a time span whose end is before its start. */
export function endBeforeStart(path: string, { start_time, end_time }: Data): Fault[] {
  if (typeof start_time !== 'number' || typeof end_time !== 'number' || end_time >= start_time) return [];
  return [
    { path: keyPath(path, 'end_time'), message: 'must not be before start_time', code: 'VALIDATION_FAILED' },
  ];
}

// Converts RFC 3339 to an instant, and completes people; undefined for text that is not an instant.
function acceptedValue(name: string, field: Field | undefined, value: JsonValue): JsonValue | undefined {
  if (field?.kind === 'instant' && typeof value === 'string') return instantIn(value);
  if (!PEOPLE.has(name)) return value;
  return mapEach(value, (person) => ({
    name: null,
    email: null,
    ...(name !== 'organizer' && { contact_id: null }),
    ...person,
  }));
}

function withoutContact({ contact_id: _, ...person }: Data): Data {
  return person;
}

function mapEach(value: JsonValue, map: (object: Data) => Data): JsonValue {
  if (Array.isArray(value)) return value.map((item) => mapEach(item, map));
  return isObject(value) ? map(value) : value;
}
