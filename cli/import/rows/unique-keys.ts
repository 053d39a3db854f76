// Keys of rows whose order must be kept, because a later row depends on the result of an earlier one.
import { externalIdName } from '../../../db/model/external-ids.ts';
import { type Data, isObject } from '../../../db/model/json.ts';
import type { Resource } from '../../../db/model/resource.ts';
import { duplicateMessage, type UniqueValue, uniqueValues } from '../../../db/model/rules.ts';

/** The key of a unique value. */
export function keyOf({ filter, key }: Pick<UniqueValue, 'filter' | 'key'>): string {
  return `${filter} ${key}`;
}

/** A value that only one record of a resource can have, by the name with which rows are matched. */
export interface Identity {
  name: string;
  key: string;
  path: string;
  /** What is wrong if another record has it. */
  message: string;
}

/** The external ID and the unique values of a body. */
export function identitiesOf(resource: Resource, body: Data): Identity[] {
  const { external_id: id } = body;
  const unique = uniqueValues(resource, body).map((one) => ({
    ...{ name: one.filter, key: keyOf(one), path: one.path },
    message: duplicateMessage(resource, one),
  }));
  if (!isObject(id)) return unique;
  const key = `external_id ${externalIdName({ source: String(id.source), id: String(id.id) })}`;
  const message = `another ${resource.singular} has this external ID`;
  return [{ name: 'external_id', key, path: 'external_id', message }, ...unique];
}

/** Keys of the record of a body, and those that make it a repetition. */
export function orderingKeys(resource: Resource, body: Data): string[] {
  return [...repeatKeys(resource, body, null), ...identitiesOf(resource, body).map(({ key }) => key)];
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
