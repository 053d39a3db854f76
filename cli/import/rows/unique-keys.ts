// Keys of rows whose order must be kept, because the later one depends on what became of the earlier.
import type { Data } from '../../../db/model/json.ts';
import type { Resource } from '../../../db/model/resource.ts';
import { type UniqueValue, uniqueValues } from '../../../db/model/rules.ts';

/** A unique value as the key under which it is remembered. */
export function keyOf({ filter, key }: UniqueValue): string {
  return `${filter} ${key}`;
}

/** What a body has that is unique, or that makes it a repeated one. */
export function orderingKeys(resource: Resource, body: Data): string[] {
  return [...repeatKeys(resource, body, null), ...uniqueValues(resource, body).map(keyOf)];
}

/** What makes a record a repeated one: its origin, else its content, once it is known which contact it is about. */
export function repeatKeys({ repeatedBy }: Resource, data: Data, contact: string | null): string[] {
  const [first] = repeatedBy;
  if (first === undefined) return [];
  if ((data[first] ?? null) !== null) return [JSON.stringify(repeatedBy.map((name) => data[name] ?? null))];
  const { type, direction, title, interaction_date: date } = data;
  return contact === null || typeof date !== 'number'
    ? []
    : [JSON.stringify(['content', contact, type, direction, title, date])];
}
