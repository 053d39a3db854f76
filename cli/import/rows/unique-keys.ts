// Keys of rows whose order must be kept, because the later one depends on what became of the earlier.
import type { Data } from '../../../db/declare/json.ts';
import type { Resource } from '../../../db/declare/resource.ts';
import { type UniqueValue, uniqueValues } from '../../../db/declare/rules.ts';

/** A unique value as the key under which it is remembered. */
export function keyOf({ filter, key }: UniqueValue): string {
  return `${filter} ${key}`;
}

/** What a body has that is unique, or that makes it a repeated one. */
export function orderingKeys(resource: Resource, body: Data): string[] {
  const { repeatedBy } = resource;
  const [first = ''] = repeatedBy;
  const isRepeatable = body[first] !== undefined;
  const repeated = isRepeatable ? [JSON.stringify(repeatedBy.map((name) => body[name] ?? null))] : [];
  return [...repeated, ...uniqueValues(resource, body).map(keyOf)];
}
