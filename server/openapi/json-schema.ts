// JSON Schema, as the declarations have it, in the dialect of OpenAPI 3.0: no null type, no bare enum, no propertyNames.
import type { TSchema } from 'typebox';
import { type Data, isObject } from '../../db/declare/json.ts';

/** Gives the component that describes a schema, by the schema's JSON text; undefined for one without a name. */
export type NameOf = (text: string) => string | undefined;

const INT32_MAX = 2 ** 31 - 1;

/** A schema for OpenAPI 3.0; parts that are components themselves become references to them. */
export function toOpenApi(schema: TSchema, nameOf: NameOf): Data {
  return convert(JSON.parse(JSON.stringify(schema)) as Data, nameOf);
}

/** The same, of a schema that is a component itself. */
export function toComponent(schema: TSchema, nameOf: NameOf): Data {
  return convertInPlace(JSON.parse(JSON.stringify(schema)) as Data, nameOf);
}

/** A reference to a component. */
export function refTo(kind: string, name: string): Data {
  return { $ref: `#/components/${kind}/${name}` };
}

function convert(schema: Data, nameOf: NameOf): Data {
  const name = nameOf(JSON.stringify(schema));
  return name === undefined ? convertInPlace(schema, nameOf) : refTo('schemas', name);
}

function convertInPlace(schema: Data, nameOf: NameOf): Data {
  const { anyOf, properties, items, additionalProperties, propertyNames, ...rest } = schema;
  if (Array.isArray(anyOf))
    return union(
      anyOf.filter((one) => isObject(one)),
      rest,
      nameOf,
    );
  const converted: Data = rest;
  if (Array.isArray(rest.enum)) converted.type = typeof rest.enum[0];
  if (rest.type === 'integer' && Number(rest.maximum) > INT32_MAX) converted.format = 'int64';
  if (isObject(properties) && Object.keys(properties).length > 0)
    converted.properties = mapValues(properties, (one) => convert(one, nameOf));
  if (isObject(items)) converted.items = convert(items, nameOf);
  if (isObject(additionalProperties)) converted.additionalProperties = convert(additionalProperties, nameOf);
  else if (additionalProperties !== undefined) converted.additionalProperties = additionalProperties;
  if (!isObject(propertyNames)) return converted;
  return withNotes({ description: `Keys have at most ${propertyNames.maxLength} characters.` }, converted);
}

// Null is no type in 3.0 but a property of one; a reference takes none, so beside it null is a schema of its own.
function union(branches: Data[], notes: Data, nameOf: NameOf): Data {
  const others = branches.filter((branch) => branch.type !== 'null').map((branch) => convert(branch, nameOf));
  if (others.length === branches.length) return { anyOf: others, ...notes };
  const [first = {}, ...more] = others;
  if (first.$ref !== undefined) {
    return { anyOf: [...others, { type: 'object', nullable: true, enum: [null] }], ...notes };
  }
  const nullable: Data = { ...first, nullable: true };
  if (Array.isArray(first.enum)) nullable.enum = [...first.enum, null];
  return more.length === 0 ? withNotes(nullable, notes) : { anyOf: [nullable, ...more], ...notes };
}

// Later notes win, but what both describe is told together.
function withNotes(schema: Data, notes: Data): Data {
  const descriptions = [notes.description, schema.description].filter((text) => text !== undefined);
  const merged = { ...schema, ...notes };
  return descriptions.length === 0 ? merged : { ...merged, description: descriptions.join(' ') };
}

/** The same keys with other values; what is no object is dropped. */
export function mapValues(data: Data, change: (value: Data, key: string) => Data): Data {
  return Object.fromEntries(
    Object.entries(data).flatMap(([key, value]) => (isObject(value) ? [[key, change(value, key)]] : [])),
  );
}
