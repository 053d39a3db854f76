// Rules about several fields: which are required, which exclude each other, which are unique.
import type { Fault } from './faults.ts';
import type { Data, JsonValue } from './json.ts';
import type { Resource } from './resource.ts';
import { isBlank } from './text.ts';

/** Faults of the body of a new record beyond those of single fields. */
export function newRecordFaults(resource: Resource, body: Data): Fault[] {
  return identityFaults(resource, body).concat(notExactlyOne(resource, body));
}

/** The fault of a record without any of its identifying fields. */
export function identityFaults({ identifying }: Resource, record: Data): Fault[] {
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
  const names = exactlyOneOf.join(' or ');
  if (second !== undefined)
    return [{ path: second, message: `send either ${names}, not both`, code: 'VALIDATION_FAILED' }];
  if (one !== undefined) return [];
  return [{ path: first, message: `either ${names} is required`, code: 'VALIDATION_REQUIRED_FIELD' }];
}

/** A value that only one record of an organization can have. */
export interface UniqueValue {
  /** The list filter that finds its owner. */
  filter: string;
  value: string;
  /** The value as it is compared. */
  key: string;
  path: string;
}

/** The unique values of a body or record, each once. */
export function uniqueValues({ unique, filters }: Resource, data: Data): UniqueValue[] {
  const found: UniqueValue[] = [];
  for (const filter in unique) {
    const add = (path: string, value: string): void => {
      const key = filters[filter]?.normalize(value) ?? value;
      const isNew = found.every((one) => one.key !== key || one.filter !== filter);
      if (isNew) found.push({ filter, value, key, path });
    };
    for (const name of unique[filter] ?? []) addTexts(add, name, data[name]);
  }
  return found;
}

function addTexts(
  add: (path: string, value: string) => void,
  path: string,
  value: JsonValue | undefined,
): void {
  if (typeof value === 'string' && value !== '') add(path, value);
  if (!Array.isArray(value)) return;
  for (let index = 0; index < value.length; index++) addTexts(add, `${path}.${index}`, value[index]);
}

/** The message for a unique value of another record. */
export function duplicateMessage({ singular }: Resource, { filter }: UniqueValue): string {
  return `another ${singular} has this ${filter}`;
}
