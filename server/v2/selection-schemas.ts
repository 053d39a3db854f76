// How the description shows records with what a request selects, and what responses include besides them.
import { type TSchema, Type } from 'typebox';
import { memoize } from '../../db/cache.ts';
import { exampleId, idSchema } from '../../db/model/fields.ts';
import type { Resource } from '../../db/model/resource.ts';
import { type Include, includesOf, RELATED_MAX } from '../../db/model/resources/includes.ts';
import { stageSchema } from '../../db/model/resources/pipelines.ts';
import { named, nullable } from '../../db/model/schemas.ts';
import { capitalized } from './naming.ts';

const CLOSED = { additionalProperties: false };

// A user as responses include one.
const USER = { id: exampleId('users'), email: 'ada@acme.example', name: 'Ada Lovelace' };
const userSchema = named(
  'IncludedUser',
  Type.Object(
    {
      id: idSchema({ examples: [USER.id] }),
      email: Type.String({ examples: [USER.email] }),
      name: { ...nullable(Type.String()), examples: [USER.name] },
    },
    CLOSED,
  ),
);

/** Schema of what responses include besides records of a resource. */
export const includedSchema = memoize((resource: Resource): TSchema => {
  const groups = new Map(Object.values(includesOf(resource)).map((one) => [one.group, schemaOf(one)]));
  const properties = [...groups].map(([group, schema]): [string, TSchema] => [
    group,
    Type.Optional(Type.Object({}, { additionalProperties: schema })),
  ]);
  const description = 'What `include` names, each once, by group and ID; only if it is sent.';
  const examples = [groups.has('users') ? { users: { [exampleId('users')]: USER } } : {}];
  return named(
    `${capitalized(resource.singular)}Included`,
    Type.Object(Object.fromEntries(properties), { ...CLOSED, description, examples }),
  );
});

function schemaOf({ group, resource }: Include): TSchema {
  if (resource !== null) return resource.responseSchema;
  return group === 'users' ? userSchema : stageSchema;
}

/** Schema of a record in a response that can include others. Of `fields` it says nothing: any field could be absent then. */
export const recordWithIds = memoize((resource: Resource): TSchema => {
  const schema = resource.responseSchema;
  const properties = { ...propertiesOf(schema), included_ids: includedIds(resource) };
  return Type.Union([
    schema,
    named(`${capitalized(resource.singular)}WithIncluded`, Type.Object(properties, CLOSED)),
  ]);
});

function propertiesOf(schema: TSchema): Record<string, TSchema> {
  return (schema as { properties?: Record<string, TSchema> }).properties ?? {};
}

function includedIds(resource: Resource): TSchema {
  const ids = Type.Array(idSchema(), { maxItems: RELATED_MAX });
  const names = Object.keys(includesOf(resource)).map((name) => [name, Type.Optional(ids)]);
  const description = 'The IDs of what it includes, newest first, by name; only with `include`.';
  const examples = ['owner' in includesOf(resource) ? { owner: [USER.id] } : {}];
  return Type.Object(Object.fromEntries(names), { ...CLOSED, description, examples });
}
