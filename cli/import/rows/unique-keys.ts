// Keys of rows whose order must be kept, because a later row depends on the result of an earlier one.
import type { Data } from '../../../db/model/json.ts';
import type { Resource } from '../../../db/model/resource.ts';
import { type UniqueValue, uniqueValues } from '../../../db/model/rules.ts';

/** The key of a unique value. */
export function keyOf({ filter, key }: Pick<UniqueValue, 'filter' | 'key'>): string {
  return `${filter} ${key}`;
}

/** The unique values of a body, and those that make it a repetition. */
export function orderingKeys(resource: Resource, body: Data): string[] {
  return [...repeatKeys(resource, body, null), ...uniqueValues(resource, body).map(keyOf)];
}

/** What makes a record a repetition: its origin, else its content, once its contact is known. */
export function repeatKeys({ repeatedBy }: Resource, data: Data, contact: string | null): string[] {
  const [first] = repeatedBy;
  if (first === undefined) return [];
  if ((data[first] ?? null) !== null) return [JSON.stringify(repeatedBy.map((name) => data[name] ?? null))];
  const { type, direction, title, interaction_date: date } = data;
  return contact === null || typeof date !== 'number'
    ? []
    : [JSON.stringify(['content', contact, type, direction, title, date])];
}
