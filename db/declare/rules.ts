// Rules that a declaration states of several fields: which must be set, which exclude each other, which are unique.
import type { Fault } from './faults.ts';
import type { Data, JsonValue } from './json.ts';
import type { Resource } from './resource.ts';
import { isBlank } from './text.ts';

/** Faults that the body of a new record has beyond those of its fields. */
export function newRecordFaults(resource: Resource, body: Data): Fault[] {
  return missingIdentity(resource, body).concat(notExactlyOne(resource, body));
}

/** The fault of a record that has none of its identifying fields. */
export function missingIdentity({ identifying }: Resource, record: Data): Fault[] {
  const [first] = identifying;
  if (first === undefined || identifying.some((name) => says(record[name]))) return [];
  const message = `at least one of ${identifying.join(', ')} is required`;
  return [{ path: first, message, code: 'VALIDATION_REQUIRED_FIELD' }];
}

function says(value: JsonValue | undefined): boolean {
  return typeof value === 'string' ? !isBlank(value) : (value ?? null) !== null;
}

function notExactlyOne({ exactlyOneOf }: Resource, body: Data): Fault[] {
  const [first] = exactlyOneOf;
  if (first === undefined) return [];
  const [one, second] = exactlyOneOf.filter((name) => (body[name] ?? null) !== null);
  const names = `exactly one of ${exactlyOneOf.join(' and ')}`;
  if (second !== undefined)
    return [{ path: second, message: `${names} must be present, not both`, code: 'VALIDATION_FAILED' }];
  if (one !== undefined) return [];
  return [{ path: first, message: `${names} is required`, code: 'VALIDATION_REQUIRED_FIELD' }];
}

/** A value that only one record of an organization may have. */
export interface UniqueValue {
  /** The list filter that finds whose it is. */
  filter: string;
  value: string;
  /** The value as it is compared. */
  key: string;
  path: string;
}

/** The unique values of a body or record, each once. */
export function uniqueValues({ unique, filters }: Resource, data: Data): UniqueValue[] {
  const found = new Map<string, UniqueValue>();
  for (const [filter, fields] of Object.entries(unique)) {
    for (const [path, value] of fields.flatMap((name) => textsIn(name, data[name]))) {
      const key = filters[filter]?.normalize(value) ?? value;
      if (!found.has(`${filter} ${key}`)) found.set(`${filter} ${key}`, { filter, value, key, path });
    }
  }
  return [...found.values()];
}

function textsIn(path: string, value: JsonValue | undefined): [path: string, text: string][] {
  if (typeof value === 'string') return value === '' ? [] : [[path, value]];
  return Array.isArray(value) ? value.flatMap((item, index) => textsIn(`${path}.${index}`, item)) : [];
}

/** What is told of a unique value that another record has. */
export function takenMessage({ singular }: Resource, { filter }: UniqueValue): string {
  return `another ${singular} has this ${filter}`;
}
