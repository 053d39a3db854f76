// The schemas of records and bodies, made of their fields, and pieces of JSON Schema that TypeBox has no word for.
import { type TSchema, Type } from 'typebox';
import type { Field } from './fields.ts';
import type { JsonValue } from './json.ts';

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

/** Schema of a record, or of a link's own fields, as responses carry it: every field present, null where unset. */
export function recordSchema(fields: Record<string, Field>): TSchema {
  const properties: Record<string, TSchema> = {};
  for (const [name, field] of Object.entries(fields)) {
    if (!isShown(field)) continue;
    // An example is of what is sent; where what is returned differs, its schema has examples of its own.
    const { example } = field.responseSchema === field.schema ? field : { example: null };
    const schema = annotated({ ...field, example }, field.responseSchema, field.nullable);
    properties[name] = field.access === 'read' ? { ...schema, readOnly: true } : schema;
  }
  return Type.Object(properties, { additionalProperties: false });
}

/** Of a record's fields the id, for whoever is shown no more of it. */
export function idAlone(fields: Record<string, Field>): Record<string, Field> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name === 'id'));
}

/** Whether a field is part of what responses carry. */
export function isShown(field: Field): boolean {
  return field.access !== 'input' && field.access !== 'internal';
}

/** Schema of a body with those of the fields that it takes; in one that creates, the required ones must be there. */
export function bodySchema(
  fields: Record<string, Field>,
  takes: (field: Field) => boolean,
  creating: boolean,
): TSchema {
  const properties: Record<string, TSchema> = {};
  for (const [name, field] of Object.entries(fields)) {
    if (!takes(field)) continue;
    const schema = creating
      ? annotated(withInitial(field), field.createSchema, field.clearable)
      : annotated(field, field.schema, field.clearable);
    properties[name] = creating && field.required ? schema : Type.Optional(schema);
  }
  return Type.Object(properties, { additionalProperties: false });
}

// In words: clients that are made from a schema with a default take its property for required.
function withInitial(field: Field): Field {
  if (field.initial === null || (field.kind !== 'boolean' && field.kind !== 'enum')) return field;
  return { ...field, description: `${field.description} \`${field.initial}\` unless given.`.trim() };
}

function annotated(field: Field, schema: TSchema, takesNull: boolean): TSchema {
  const notes: Record<string, JsonValue> = {};
  if (field.description !== '') notes.description = field.description;
  if (field.example !== null) notes.examples = [field.example];
  const value = takesNull ? nullable(schema) : schema;
  return { ...value, ...notes };
}
