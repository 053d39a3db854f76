// How the description shows records with what a request selects, and what responses include besides them.
import { type TSchema, Type } from 'typebox';
import { memoize } from '../../db/cache.ts';
import { exampleId, idSchema } from '../../db/model/fields.ts';
import type { Resource } from '../../db/model/resource.ts';
import { type Include, includesOf } from '../../db/model/resources/includes.ts';
import { stageSchema } from '../../db/model/resources/pipelines.ts';
import { named, nullable } from '../../db/model/schemas.ts';
import { RELATED_MAX } from '../../db/tables/related-ids.ts';
import { capitalized } from './naming.ts';

// A user as responses include one.
const userSchema = named(
  'IncludedUser',
  Type.Object(
    {
      id: idSchema({ examples: [exampleId('users')] }),
      email: Type.String({ examples: ['ada@acme.example'] }),
      name: { ...nullable(Type.String()), examples: ['Ada Lovelace'] },
    },
    { additionalProperties: false },
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
  return named(
    `${capitalized(resource.singular)}Included`,
    Type.Object(Object.fromEntries(properties), { additionalProperties: false, description }),
  );
});

function schemaOf({ group, resource }: Include): TSchema {
  if (resource !== null) return resource.responseSchema;
  return group === 'users' ? userSchema : stageSchema;
}

/** Schema of a record in a response that can include others: with `included_ids` or without. */
export const recordWithIds = memoize((resource: Resource): TSchema => {
  const schema = resource.responseSchema;
  const properties = { ...propertiesOf(schema), included_ids: includedIds(resource) };
  return Type.Union([
    schema,
    named(`${capitalized(resource.singular)}WithIncluded`, Type.Object(properties, CLOSED)),
  ]);
});

/** Schema of a record in a list: whole, or with the fields that were asked for. */
export const selectedRecord = memoize((resource: Resource): TSchema => {
  const { id, ...others } = propertiesOf(resource.responseSchema);
  const some = { ...others, included_ids: includedIds(resource) };
  const optional = Object.entries(some).map(([name, schema]) => [name, Type.Optional(schema)]);
  const properties = { ...(id && { id }), ...Object.fromEntries(optional) };
  const name = `${capitalized(resource.singular)}Selection`;
  return Type.Union([resource.responseSchema, named(name, Type.Object(properties, CLOSED))]);
});

const CLOSED = { additionalProperties: false };

function propertiesOf(schema: TSchema): Record<string, TSchema> {
  return (schema as { properties?: Record<string, TSchema> }).properties ?? {};
}

function includedIds(resource: Resource): TSchema {
  const ids = Type.Array(idSchema(), { maxItems: RELATED_MAX });
  const names = Object.keys(includesOf(resource)).map((name) => [name, Type.Optional(ids)]);
  const description = 'The IDs of what it includes, newest first, by name; only with `include`.';
  return Type.Object(Object.fromEntries(names), { ...CLOSED, description });
}
