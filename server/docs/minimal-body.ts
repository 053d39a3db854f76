// The smallest body that an operation takes, to start with when it is tried: an example has every field.
import { isObject, type JsonValue } from '../../db/model/json.ts';
import type { SchemaShape } from './shapes.ts';
import { flatten } from './words.ts';

// No schema requires these: which record is meant, and the contact of an interaction, which can be given in several ways.
const NEEDED = ['id', 'external_id', 'main_contact_email', 'mainContactEmail'];

/** The part of an example that is required; where nothing is, its first field. */
export function minimalBody(schema: SchemaShape, example: JsonValue): JsonValue {
  const { schema: whole } = flatten(schema);
  if (Array.isArray(example)) return example.slice(0, 1).map((item) => minimalBody(whole.items ?? {}, item));
  if (!isObject(example)) return example;
  const { required = [] } = whole;
  const [first = ''] = Object.keys(example).filter((name) => !NEEDED.includes(name));
  const kept = [...(required.length > 0 ? required : [first]), ...NEEDED];
  return Object.fromEntries(Object.entries(example).filter(([name]) => kept.includes(name)));
}
