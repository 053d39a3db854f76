// Checks the entries of a JSON file against the declaration of their resource.
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { TLocalizedValidationError } from 'typebox/error';
import type { Field } from '../../../db/declare/fields.ts';
import type { Data, JsonValue } from '../../../db/declare/json.ts';
import { isObject } from '../../../db/declare/json.ts';
import type { Resource } from '../../../db/declare/resource.ts';
import type { IngestEntry } from '../../../db/ingest/desk.ts';
import type { FaultList } from '../entries.ts';
import { instantIn } from './foreign.ts';
import type { JsonItem } from './items.ts';

/** What a file may say of a record. */
export interface Declared {
  resource: Resource;
  /** Fields beyond those of the resource. */
  extra: Record<string, Field>;
}

// What the service itself says of a record: known, so that an exported file can be ingested, and not taken over.
const OWN_FIELDS = new Set(['id', 'created_by', 'created_at', 'updated_at', 'has_transcript']);
// Fields that hold people; whose contact each of them is, is found out whenever a record is read.
const PEOPLE = new Set(['organizer', 'attendee', 'attendees']);

/** The entries that keep to the declaration, typed as they are stored; every fault of the others is told. */
export function declaredEntries(
  items: readonly JsonItem[],
  declared: Declared,
  faults: FaultList,
): IngestEntry[] {
  return items.flatMap((item) => declaredEntry(item, declared, faults) ?? []);
}

/** One entry, or undefined with its faults told. */
export function declaredEntry(
  item: JsonItem,
  declared: Declared,
  faults: FaultList,
): IngestEntry | undefined {
  const fields = { ...declared.resource.fields, ...declared.extra };
  const before = faults.faults.length;
  const data: Data = {};
  for (const [name, value] of Object.entries(item.value)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined || field.access === 'internal') {
      faults.add(item.line, `${name} is no field of a ${declared.resource.singular}; ${allowedOf(fields)}`);
    } else if (field.column !== null && !OWN_FIELDS.has(name)) {
      const given = accepted(name, field, value);
      for (const message of faultsOf(name, field, given)) faults.add(item.line, message);
      data[name] = PEOPLE.has(name) ? mapEach(given, withoutContact) : given;
    }
  }
  if (typeof data.external_id !== 'string' || data.external_id === '') {
    faults.add(item.line, 'external_id is required: the id in the system that the entry comes from');
  }
  checkOrder(data, item.line, faults);
  return faults.faults.length === before ? { line: item.line, data } : undefined;
}

function checkOrder({ start_time, end_time }: Data, line: number, faults: FaultList): void {
  if (typeof start_time === 'number' && typeof end_time === 'number' && end_time < start_time) {
    faults.add(line, 'end_time is before start_time');
  }
}

function allowedOf(fields: Record<string, Field>): string {
  const names = Object.entries(fields).filter(
    ([name, field]) => field.access !== 'internal' && field.column !== null && !OWN_FIELDS.has(name),
  );
  return `there are ${names.map(([name]) => name).join(', ')}`;
}

// RFC 3339 is taken for an instant, and half a person for a whole one.
function accepted(name: string, field: Field, value: JsonValue): JsonValue {
  if (field.kind === 'instant' && typeof value === 'string') return instantIn(value) ?? value;
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

const FAULTS_MAX = 5;
const validators = new WeakMap<TSchema, ReturnType<typeof Compile>>();

function faultsOf(name: string, field: Field, value: JsonValue): string[] {
  if (value === null && field.nullable) return [];
  const strays = hasStrayText(value)
    ? [`${name} has characters that cannot be stored (NUL or half a character)`]
    : [];
  let validator = validators.get(field.schema);
  if (validator === undefined) {
    validator = Compile(field.schema);
    validators.set(field.schema, validator);
  }
  const errors = validator.Check(value) ? [] : validator.Errors(value);
  // What has no place is told by the object around it.
  const own = errors.filter(({ keyword }) => keyword !== 'boolean');
  return [...strays, ...own.slice(0, FAULTS_MAX).map((error) => describe(name, error))];
}

function hasStrayText(value: JsonValue): boolean {
  if (typeof value === 'string') return value.includes('\0') || !value.isWellFormed();
  if (Array.isArray(value)) return value.some(hasStrayText);
  return value !== null && typeof value === 'object' && Object.values(value).some(hasStrayText);
}

function describe(name: string, error: TLocalizedValidationError): string {
  const path = `${name}${error.instancePath.replaceAll('/', '.')}`;
  switch (error.keyword) {
    case 'enum':
      return `${path} must be one of ${error.params.allowedValues.join(', ')}`;
    case 'required':
      return `${path} needs ${error.params.requiredProperties.join(', ')}`;
    case 'additionalProperties':
      return `${path} has unknown fields: ${error.params.additionalProperties.join(', ')}`;
    case 'type':
      return `${path} ${Array.isArray(error.params.type) ? 'must be text or null' : error.message}`;
    default:
      return `${path} ${error.message}`;
  }
}
