// The component schemas: records and bodies under their names, described by the fields of their declarations.
import type { TSchema } from 'typebox';
import type { Field } from '../../db/declare/fields.ts';
import { type Data, isObject } from '../../db/declare/json.ts';
import type { Resource } from '../../db/declare/resource.ts';
import { companies } from '../../db/resources/companies.ts';
import { contacts } from '../../db/resources/contacts.ts';
import { RESOURCES } from '../../db/resources/index.ts';
import { interactions } from '../../db/resources/interactions.ts';
import { describedOperations } from '../interface.ts';
import type { Operation } from '../operation.ts';
import * as v1Schemas from '../v1/schemas.ts';
import { v1Name, v2Name } from '../v1/translate.ts';
import { capitalized } from '../v2/naming.ts';
import { SHARED_SCHEMAS } from './envelopes.ts';
import { mapValues, refTo, toComponent, toOpenApi } from './json-schema.ts';

interface Named {
  name: string;
  schema: TSchema;
  /** Adds what the schema alone does not say of a property. */
  describe: (property: Data, name: string) => Data;
}

let named: Named[] | undefined;
let namesByText: Map<string, string> | undefined;
let components: Data | undefined;

/** A reference to a schema's component or, where it has none, the schema itself. */
export function describeSchema(schema: TSchema): Data {
  // Two bodies can have the same text and yet be described differently, so the schema itself comes first.
  const own = allNamed().find((one) => one.schema === schema);
  return own === undefined ? toOpenApi(schema, nameOf) : refTo('schemas', own.name);
}

/** Every component schema by name. */
export function componentSchemas(): Data {
  components ??= { ...SHARED_SCHEMAS, ...Object.fromEntries(allNamed().map(component)) };
  return components;
}

/** The component that a reference points to. */
export function resolveRef(ref: string): Data {
  const found = componentSchemas()[ref.slice(refPrefix.length)];
  if (!isObject(found)) throw new Error(`there is no component ${ref}`);
  return found;
}

const refPrefix = String(refTo('schemas', '').$ref);

function nameOf(text: string): string | undefined {
  namesByText ??= new Map(allNamed().map(({ schema, name }) => [JSON.stringify(schema), name]));
  return namesByText.get(text);
}

function component({ name, schema, describe }: Named): [string, Data] {
  const converted = toComponent(schema, nameOf);
  if (isObject(converted.properties)) converted.properties = mapValues(converted.properties, describe);
  return [name, converted];
}

function allNamed(): Named[] {
  named ??= [...RESOURCES.flatMap(namedOf), ...describedOperations().flatMap(namedAnswer), ...namedOfV1()];
  return named;
}

function namedOf(resource: Resource): Named[] {
  const { verbs, fields, responseSchema, createSchema, updateSchema } = resource;
  const name = capitalized(resource.singular);
  const all: Named[] = [{ name, schema: responseSchema, describe: readOnly(fields) }];
  if (verbs.includes('create')) {
    all.push({ name: `${name}Create`, schema: createSchema, describe: withDefault(fields) });
  }
  if (verbs.includes('update')) {
    all.push({ name: `${name}Update`, schema: updateSchema, describe: unchanged });
  }
  return all;
}

// Answers that are more than a record: linked records, what a create adds, transcripts.
function namedAnswer({ api, id, answer }: Operation): Named[] {
  if (
    api === 'v1' ||
    answer === undefined ||
    RESOURCES.some(({ responseSchema }) => responseSchema === answer)
  )
    return [];
  const [, verb, subject = ''] = /^([a-z]+)(.*)$/.exec(id) ?? [];
  if (verb === 'list') return [{ name: `${subject}Item`, schema: answer, describe: unchanged }];
  if (verb === 'create') return [{ name: `${subject}Created`, schema: answer, describe: unchanged }];
  return verb === 'download' ? [{ name: subject, schema: answer, describe: unchanged }] : [];
}

const V1_RESOURCES: [RegExp, Resource][] = [
  [/^(person|people)/, contacts],
  [/^company/, companies],
  [/^interaction/, interactions],
];

function namedOfV1(): Named[] {
  return Object.entries(v1Schemas).flatMap(([key, schema]) => {
    const fields = V1_RESOURCES.find(([pattern]) => pattern.test(key))?.[1].fields ?? {};
    return [{ name: `V1${capitalized(key)}`, schema, describe: inV1Names(fields) }];
  });
}

function unchanged(property: Data): Data {
  return property;
}

function readOnly(fields: Record<string, Field>): Named['describe'] {
  return (property, name) => (fields[name]?.access === 'read' ? { ...property, readOnly: true } : property);
}

function withDefault(fields: Record<string, Field>): Named['describe'] {
  return (property, name) => {
    const field = fields[name];
    const hasDefault = (field?.kind === 'boolean' || field?.kind === 'enum') && field.initial !== null;
    return hasDefault ? { ...property, default: field.initial } : property;
  };
}

// A v1 field is described as the v2 field that it stands for, where both are of one type.
function inV1Names(fields: Record<string, Field>): Named['describe'] {
  return (property, name) => {
    const field = fields[v2Name(name)];
    if (field === undefined || property.type !== typeOf(field.example)) return property;
    const description = field.description.replace(/[a-z]+(_[a-z]+)+/g, v1Name);
    return { ...(description !== '' && { description }), example: field.example, ...property };
  };
}

function typeOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value;
}
