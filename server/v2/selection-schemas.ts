// How the description shows what responses include besides records.
import { type TSchema, Type } from 'typebox';
import { memoize } from '../../db/cache.ts';
import type { Resource } from '../../db/model/resource.ts';
import { includesOf } from '../../db/model/resources/includes.ts';
import { named } from '../../db/model/schemas.ts';
import { capitalized } from './naming.ts';

/**
 * Schema of what responses include besides records of a resource. Open objects: the fields of a record are described where
 * it is listed.
 */
export const includedSchema = memoize((resource: Resource): TSchema => {
  const groups = new Set(Object.values(includesOf(resource)).map(({ group }) => group));
  const properties = Object.fromEntries(
    [...groups].map((group) => [group, Type.Optional(recordsById(group))]),
  );
  const description = 'Only with `include`: what it names, each once, by group and ID.';
  const options = { additionalProperties: false, description, examples: [] };
  return named(`${capitalized(resource.singular)}Included`, Type.Object(properties, options));
});

// What a record of a group looks like, where that is not how lists show it.
const OTHERS: Readonly<Record<string, string>> = {
  users: 'Users by ID, with `id`, `email` and `name`.',
  stages: 'Stages by ID, as pipelines show them.',
};

function recordsById(group: string): TSchema {
  const description = OTHERS[group] ?? `${capitalized(group)} by ID, as lists show them.`;
  return Type.Object(
    {},
    { additionalProperties: Type.Object({}, { additionalProperties: true }), description },
  );
}
