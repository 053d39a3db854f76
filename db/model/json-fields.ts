// The kinds of field whose values are lists or objects; those that are stored are JSON text.
import { type TSchema, Type } from 'typebox';
import {
  EMAIL_CHARACTERS_MAX,
  exampleId,
  type Field,
  type FieldKind,
  type FieldOptions,
  field,
  idSchema,
  NAME_CHARACTERS_MAX,
  type Shape,
} from './fields.ts';
import type { JsonValue } from './json.ts';

/** A list of email addresses, `[]` if empty. */
export function emails(options: FieldOptions = {}): Field {
  const schema = Type.Array(Type.String({ format: 'email', maxLength: EMAIL_CHARACTERS_MAX }), {
    maxItems: 100,
  });
  return field(
    { ...jsonColumn('emails', schema, []), clearable: true, example: ['ada@work.example'] },
    options,
  );
}

/** How many IDs a list of a request can have. */
export const REFERENCES_MAX = 100;

/** A list of IDs of other records, `[]` if empty; links store them, and a response can contain more than a create accepts. */
export function references(target: string, options: FieldOptions = {}): Field {
  const schema = Type.Array(idSchema(), { maxItems: REFERENCES_MAX });
  const example = [exampleId(target)];
  const responseSchema = Type.Array(idSchema(), { examples: [example] });
  const shape = { ...jsonColumn('references', schema, []), column: null, references: target };
  return field({ ...shape, clearable: true, example, responseSchema }, options);
}

export const CUSTOM_KEYS_MAX = 100;

/** The keys and values that `custom` accepts, as options of an object's schema. */
export const customEntries = {
  propertyNames: Type.String({ maxLength: 100 }),
  additionalProperties: Type.Unsafe({
    type: ['string', 'number', 'boolean', 'null'],
    maxLength: NAME_CHARACTERS_MAX,
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
  }),
};

/** A flat object of custom keys; PATCH merges, null removes a key. */
export function custom(options: FieldOptions = {}): Field {
  const schema = Type.Unsafe(Type.Object({}, { maxProperties: CUSTOM_KEYS_MAX, ...customEntries }));
  return field(
    { ...jsonColumn('custom', schema, {}), clearable: true, example: { segment: 'enterprise' } },
    options,
  );
}

/** A structured value stored as JSON, or (`column: null`) computed when the record is shown. */
export function json(
  schema: TSchema,
  options: FieldOptions & { initial?: JsonValue; column?: null } = {},
): Field {
  const { initial = null, nullable = initial === null, column, ...rest } = options;
  const shape = jsonColumn('json', schema, initial);
  return field({ ...shape, nullable, ...(column === null && { column }) }, { access: 'read', ...rest });
}

function jsonColumn(kind: FieldKind, schema: TSchema, initial: JsonValue): Shape {
  const initialText = JSON.stringify(initial);
  return {
    kind,
    column: 'text',
    schema,
    nullable: initial === null,
    initial,
    // Most lists and objects are empty: those are stored as null.
    encode: (value) => {
      const text = value === initial ? initialText : JSON.stringify(value);
      return text === initialText ? null : text;
    },
    decode: (column) => (column === null ? initial : (JSON.parse(String(column)) as JsonValue)),
  };
}
