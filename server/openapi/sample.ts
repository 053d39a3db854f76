// Examples: values that are valid against a schema, built from the examples in the declarations.
import { type Data, isObject, type JsonValue } from '../../db/model/json.ts';

const FORMATS: Record<string, string> = {
  'date-time': '2026-01-01T00:00:00.000Z',
  date: '2026-01-01',
  email: 'ada@example.com',
};

/** An example of a schema; for a list, one item of each kind that it can contain. */
export function sampleOf(schema: Data): JsonValue {
  const { examples, enum: values, anyOf, properties, items } = schema;
  if (Array.isArray(examples)) return examples[0] ?? null;
  if (Array.isArray(values)) return values[0] ?? null;
  if (Array.isArray(anyOf)) return sampleOf(objectsIn(anyOf)[0] ?? {});
  if (schema.type === 'array') return isObject(items) ? itemKinds(items).map(sampleOf) : [];
  if (schema.type === 'object') return sampleObject(isObject(properties) ? properties : {});
  return sampleScalar(schema);
}

function itemKinds(items: Data): Data[] {
  return Array.isArray(items.anyOf) ? objectsIn(items.anyOf) : [items];
}

function sampleObject(properties: Data): Data {
  const entries = Object.entries(properties).flatMap(([name, property]) => {
    if (!isObject(property) || isLeftOut(property)) return [];
    return [[name, isUnset(property) ? null : sampleOf(property)]];
  });
  return Object.fromEntries(entries);
}

// No example is wanted, as is told by an empty list of them.
function isLeftOut({ examples }: Data): boolean {
  return Array.isArray(examples) && examples.length === 0;
}

// A nullable property without an example is null.
function isUnset({ type, examples }: Data): boolean {
  return Array.isArray(type) && type.includes('null') && examples === undefined;
}

function sampleScalar({ type, format, minimum }: Data): JsonValue {
  if (type === 'boolean') return false;
  if (type === 'integer' || type === 'number')
    return typeof minimum === 'number' && minimum > 0 ? minimum : 0;
  return FORMATS[String(format)] ?? 'text';
}

function objectsIn(values: JsonValue[]): Data[] {
  return values.filter((one) => isObject(one));
}
