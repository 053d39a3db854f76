// What operations take from the declaration of their resource.
import { type TSchema, Type } from 'typebox';
import type { Field } from '../../db/model/fields.ts';
import type { Data } from '../../db/model/json.ts';
import type { Resource, Verb } from '../../db/model/resource.ts';
import { newRecordFaults } from '../../db/model/rules.ts';
import { idAlone, named, recordSchema } from '../../db/model/schemas.ts';
import { rulesOf } from '../records/registry.ts';
import { capitalized } from './naming.ts';

/** The body of a create, its checks and its example. */
export function createRules(resource: Resource) {
  return {
    body: resource.createSchema,
    inspect: (body: Data) => newRecordFaults(resource, body),
    examples: { body: createExample(resource) },
  };
}

/** A body for the example of a create. */
export function createExample(resource: Resource): Data {
  return exampleOf(resource, ['write', 'create', 'input']);
}

// Number of fields in the example of an update.
const FIELDS_UPDATED = 3;

/** A body for the example of an update. */
export function updateExample(resource: Resource): Data {
  return exampleOf(resource, ['write'], FIELDS_UPDATED);
}

// Without references, whose IDs would have to exist; everything else can be sent unchanged.
function exampleOf({ fields }: Resource, accesses: readonly Field['access'][], fieldsMax?: number): Data {
  const sendable = Object.entries(fields).filter(
    ([, { access, references }]) => accesses.includes(access) && references === undefined,
  );
  return Object.fromEntries(sendable.slice(0, fieldsMax).map(([name, { example }]) => [name, example]));
}

/** What an operation does, and what is special about it for this resource. */
export function explained(resource: Resource, verb: Verb, common = ''): string {
  return [common, resource.explanations[verb] ?? ''].filter((text) => text !== '').join('\n\n');
}

/** What all writes of a resource have in common. */
export function writing(resource: Resource) {
  return {
    scopes: [`${resource.name}:write`],
    isWrite: true,
    isOrganizationOnly: resource.owner === null,
    query: {},
  } as const;
}

/** The status of a create's conflicts, documented only if a rule can cause one. */
export function conflictsOf(resource: Resource): number[] {
  return Object.keys(resource.unique).length > 0 || rulesOf(resource).claim !== undefined ? [409] : [];
}

/** Schema of a created record; of an existing duplicate, the response can contain only the ID. */
export function createdSchema(resource: Resource): TSchema {
  const { fields, createdFields } = resource;
  if (Object.keys(createdFields).length === 0) return resource.responseSchema;
  const typeName = capitalized(resource.singular);
  const whole = named(`Created${typeName}`, recordSchema({ ...fields, ...createdFields }));
  const bare = named(`Duplicate${typeName}`, recordSchema({ ...idAlone(fields), ...createdFields }));
  return named(`${typeName}CreateResult`, Type.Union([whole, bare]));
}
