// Pieces of JSON Schema that TypeBox has no word for.
import { type TSchema, Type } from 'typebox';

/** A schema with the name that the description, and so every client made from it, has for it. */
export function named(name: string, schema: TSchema): TSchema {
  return { ...schema, $id: name };
}

/** A schema, of one type or of named values, that takes null too: said in its type, so that a fault needs no union told. */
export function nullable(schema: TSchema): TSchema {
  const { type, enum: values } = schema as { type?: string | string[]; enum?: readonly unknown[] };
  if (values !== undefined) return Type.Unsafe({ ...schema, enum: [...values, null] });
  return Type.Unsafe({ ...schema, type: [type, 'null'].flat() });
}
