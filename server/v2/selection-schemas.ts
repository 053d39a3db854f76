// How the description shows what responses include besides records.
import { type TSchema, Type } from 'typebox';
import { memoize } from '../../db/cache.ts';
import { exampleId, idSchema } from '../../db/model/fields.ts';
import type { Resource } from '../../db/model/resource.ts';
import { type Include, includesOf } from '../../db/model/resources/includes.ts';
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
  return named(
    `${capitalized(resource.singular)}Included`,
    Type.Object(Object.fromEntries(properties), { ...CLOSED, description, examples: [] }),
  );
});

function schemaOf({ group, resource }: Include): TSchema {
  if (resource !== null) return resource.responseSchema;
  return group === 'users' ? userSchema : stageSchema;
}
