// The schemas of records and bodies, built from their fields, and JSON Schema helpers that TypeBox does not have.
import { type TSchema, Type } from 'typebox';
import type { Field } from './fields.ts';
import type { JsonValue } from './json.ts';

/** A schema with a name, which the description and generated clients use. */
export function named(name: string, schema: TSchema): TSchema {
  return { ...schema, $id: name };
}

/** A schema of one type or an enum that also accepts null, as part of its type, so that errors need not explain a union. */
export function nullable(schema: TSchema): TSchema {
  const { type, enum: values } = schema as { type?: string | string[]; enum?: readonly unknown[] };
  if (values !== undefined) return Type.Unsafe({ ...schema, enum: [...values, null] });
  return Type.Unsafe({ ...schema, type: [type, 'null'].flat() });
}

/**
 * Schema of a record, or of a link's own fields, in responses: every field is present, null if unset.
 * @param others what it can contain besides its fields
 */
export function recordSchema(fields: Record<string, Field>, others: Record<string, TSchema> = {}): TSchema {
  const properties: Record<string, TSchema> = {};
  for (const [name, field] of Object.entries(fields)) {
    if (!isShown(field)) continue;
    // The example shows what is sent; if responses differ, their schema has its own examples.
    const { example } = field.responseSchema === field.schema ? field : { example: null };
    const schema = annotated({ ...field, example }, field.responseSchema, field.nullable);
    properties[name] = field.access === 'read' ? { ...schema, readOnly: true } : schema;
  }
  return Type.Object({ ...properties, ...others }, { additionalProperties: false });
}

/** Only the ID of a record's fields, for readers who cannot see more. */
export function idAlone(fields: Record<string, Field>): Record<string, Field> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name === 'id'));
}

/** Whether a field is part of responses. */
export function isShown(field: Field): boolean {
  return field.access !== 'input' && field.access !== 'internal';
}

/** Schema of a body with the fields that it accepts; on create, required fields must be present. */
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

// In the description, because generators treat a property with a default in its schema as required.
function withInitial(field: Field): Field {
  if (field.initial === null || (field.kind !== 'boolean' && field.kind !== 'enum')) return field;
  return { ...field, description: `${field.description} Default: \`${field.initial}\`.`.trim() };
}

function annotated(field: Field, schema: TSchema, takesNull: boolean): TSchema {
  const notes: Record<string, JsonValue> = {};
  if (field.description !== '') notes.description = field.description;
  if (field.example !== null) notes.examples = [field.example];
  const value = takesNull ? nullable(schema) : schema;
  return { ...value, ...notes };
}
