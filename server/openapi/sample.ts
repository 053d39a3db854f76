// Examples: a value that is valid against a schema, made of the examples that the declarations give.
import { type Data, isObject, type JsonValue } from '../../db/declare/json.ts';

const FORMATS: Record<string, string> = {
  'date-time': '2026-01-01T00:00:00.000Z',
  date: '2026-01-01',
  email: 'ada@example.com',
};

/**
 * An example of a schema in the dialect of OpenAPI 3.0.
 * @param resolve gives the schema that a reference points to
 */
export function sampleOf(schema: Data, resolve: (ref: string) => Data): JsonValue {
  const { $ref, example, enum: values, anyOf, nullable, properties, items } = schema;
  if (typeof $ref === 'string') return sampleOf(resolve($ref), resolve);
  if (example !== undefined) return example;
  if (nullable === true) return null;
  if (Array.isArray(values)) return values[0] ?? null;
  if (Array.isArray(anyOf)) return sampleOf(firstOf(anyOf), resolve);
  if (schema.type === 'array') return isObject(items) ? [sampleOf(items, resolve)] : [];
  if (schema.type === 'object') return sampleObject(isObject(properties) ? properties : {}, resolve);
  return sampleScalar(schema);
}

function sampleObject(properties: Data, resolve: (ref: string) => Data): Data {
  const entries = Object.entries(properties).flatMap(([name, property]) =>
    isObject(property) ? [[name, sampleOf(property, resolve)] as const] : [],
  );
  return Object.fromEntries(entries);
}

function sampleScalar({ type, format, default: initial, minimum }: Data): JsonValue {
  if (initial !== undefined) return initial;
  if (type === 'boolean') return false;
  if (type === 'integer' || type === 'number')
    return typeof minimum === 'number' && minimum > 0 ? minimum : 0;
  return FORMATS[String(format)] ?? 'text';
}

function firstOf(schemas: JsonValue[]): Data {
  return schemas.find((one) => isObject(one)) ?? {};
}
