// Arguments as models write them: some send objects and lists as strings of JSON.
import type { TSchema } from 'typebox';
import { type Data, isObject, type JsonValue } from '../../db/model/json.ts';

/** The arguments with the objects and lists that strings of JSON stand for. */
export function readArguments(given: Data, input: TSchema): Data {
  if (!isObject(given)) return given;
  const { properties = {} } = input as { properties?: Record<string, TSchema> };
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      Object.hasOwn(properties, name) ? readValue(value, properties[name]) : value,
    ]),
  );
}

function readValue(value: JsonValue, schema: TSchema | undefined): JsonValue {
  const { type, items } = (schema ?? {}) as { type?: unknown; items?: TSchema };
  const read = typeof value === 'string' ? (partsIn(value, type) ?? value) : value;
  return Array.isArray(read) ? read.map((item) => readValue(item, items)) : read;
}

function partsIn(text: string, type: unknown): JsonValue | undefined {
  if (type !== 'object' && type !== 'array') return undefined;
  try {
    const value = JSON.parse(text) as JsonValue;
    return (type === 'array' ? Array.isArray(value) : isObject(value)) ? value : undefined;
  } catch {
    return undefined;
  }
}
