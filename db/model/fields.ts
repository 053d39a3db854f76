// The kinds of field a resource can have: each gives its JSON Schema, its column, and the way between the two.
import { type TSchema, Type } from 'typebox';
import { instantText } from './instants.ts';
import type { JsonValue } from './json.ts';
import { textKey } from './text.ts';

export type ColumnType = 'text' | 'integer' | 'real';
export type ColumnValue = string | number | null;

/** How a field is read, typed and looked up; the CLI's import chooses its parser by it. */
export type FieldKind =
  | 'text'
  | 'email'
  | 'emails'
  | 'domain'
  | 'boolean'
  | 'integer'
  | 'number'
  | 'instant'
  | 'timestamp'
  | 'date'
  | 'enum'
  | 'reference'
  | 'custom'
  | 'json';

export interface Field {
  readonly kind: FieldKind;
  /** Column type, or null for a field that is computed when a record is presented. */
  readonly column: ColumnType | null;
  /** JSON Schema of a value that is not null, as a client writes it. */
  readonly schema: TSchema;
  /** The same in a create, where it takes less. */
  readonly createSchema: TSchema;
  /** JSON Schema of a value that is not null, as a response carries it. */
  readonly responseSchema: TSchema;
  /**
   * Who sets it: the client at any time (`write`), on create only (`create`), on create without being a field of the
   * record itself (`input`), the service (`read`), or the service for its own use, never shown (`internal`).
   */
  readonly access: 'write' | 'create' | 'input' | 'read' | 'internal';
  /** Whether a create must carry it. */
  readonly required: boolean;
  /** Whether null stands for "unset" in a response. */
  readonly nullable: boolean;
  /** Whether null in a body clears it. */
  readonly clearable: boolean;
  /** What a create stores when the client leaves the field out. */
  readonly initial: JsonValue;
  /** The resource (or `users`) that the value is an id of. */
  readonly references: string | undefined;
  /**
   * The key by which it is looked up whole, null where it is not. A shadow column `<name>_key` holds it where it is not the
   * value itself.
   */
  readonly key: ((value: string) => string) | null;
  readonly description: string;
  readonly example: JsonValue;
  /**
   * Names that other products' exports give this field, `#` for any number. Of several columns the first is taken: the
   * field's own name, unless it stands among them, then these in their order.
   */
  readonly aliases: readonly string[];
  readonly encode: (value: JsonValue) => ColumnValue;
  readonly decode: (column: ColumnValue) => JsonValue;
}

/** What a declaration may say of any field, beyond its kind. */
export interface FieldOptions {
  required?: boolean;
  access?: Field['access'];
  nullable?: boolean;
  clearable?: boolean;
  key?: (value: string) => string;
  /** Where a create takes less than an update. */
  createSchema?: TSchema;
  /** Where what is returned differs from what is sent. */
  responseSchema?: TSchema;
  description?: string;
  example?: JsonValue;
  aliases?: readonly string[];
}

export type Shape = Pick<Field, 'kind' | 'column' | 'schema'> & Partial<Field>;

/** The way between the two forms of a field that is stored as it is shown. */
export const asIs = (value: JsonValue): ColumnValue => value as ColumnValue;

/** The shadow column of a field that has a key. */
export function keyColumn(name: string): string {
  return `${name}_key`;
}

/** A field of that shape, with what the declaration says of it. */
export function field(shape: Shape, options: FieldOptions): Field {
  const required = options.required ?? false;
  const nullable = options.nullable ?? shape.nullable ?? !required;
  return {
    createSchema: shape.schema,
    responseSchema: shape.schema,
    access: 'write',
    required,
    nullable,
    clearable: nullable,
    initial: null,
    references: undefined,
    key: null,
    description: '',
    example: null,
    aliases: [],
    encode: asIs,
    decode: asIs,
    ...shape,
    ...options,
  };
}

export const NAME_CHARACTERS_MAX = 1_000;
export const EMAIL_CHARACTERS_MAX = NAME_CHARACTERS_MAX;
export const LONG_TEXT_CHARACTERS_MAX = 10_000;

/** Schema of text that says something: it has a character that is not white space. */
export function sayingText(options: { maxLength: number; examples?: string[] }): TSchema {
  return Type.String({ pattern: '\\S', ...options });
}

/** Text of at most `maxLength` code points (1,000 unless said otherwise); required text says something. */
export function text(options: FieldOptions & { maxLength?: number } = {}): Field {
  const { maxLength = NAME_CHARACTERS_MAX, ...rest } = options;
  const schema = rest.required ? sayingText({ maxLength }) : Type.String({ maxLength });
  return field({ kind: 'text', column: 'text', schema }, rest);
}

/** One email address, kept as written and compared case-insensitively. */
export function email(options: FieldOptions = {}): Field {
  const schema = Type.String({ format: 'email', maxLength: EMAIL_CHARACTERS_MAX });
  return field({ kind: 'email', column: 'text', schema, example: 'ada@example.com' }, options);
}

/** An internet domain; `normalizeDomain` gives the stored form. */
export function domain(options: FieldOptions = {}): Field {
  const schema = Type.String({ format: 'domain', minLength: 1, maxLength: NAME_CHARACTERS_MAX });
  return field({ kind: 'domain', column: 'text', schema, key: textKey, example: 'example.com' }, options);
}

/** A currency by its ISO 4217 code. */
export function currency(options: FieldOptions = {}): Field {
  const schema = Type.String({ format: 'currency', maxLength: NAME_CHARACTERS_MAX });
  return field({ kind: 'text', column: 'text', schema, example: 'EUR' }, options);
}

/** True or false, never null. */
export function boolean(options: FieldOptions & { initial?: boolean } = {}): Field {
  return field(
    {
      kind: 'boolean',
      column: 'integer',
      schema: Type.Boolean(),
      nullable: false,
      initial: false,
      example: false,
      encode: (value) => (value ? 1 : 0),
      decode: (column) => column === 1,
    },
    options,
  );
}

/** A whole number. */
export function integer(options: FieldOptions & { minimum?: number } = {}): Field {
  const { minimum = Number.MIN_SAFE_INTEGER, ...rest } = options;
  const schema = Type.Integer({ format: 'int64', minimum, maximum: Number.MAX_SAFE_INTEGER });
  return field({ kind: 'integer', column: 'integer', schema, example: 42 }, rest);
}

/** A number, whole or not, up to ±(2^53−1). */
export function number(options: FieldOptions & { minimum?: number; maximum?: number } = {}): Field {
  const { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER, ...rest } = options;
  return field(
    { kind: 'number', column: 'real', schema: Type.Number({ minimum, maximum }), example: 1250.5 },
    rest,
  );
}

/** The instants that RFC 3339 can write: the years 0000 to 9999. */
export const INSTANT_MS_MIN = -62_167_219_200_000;
export const INSTANT_MS_MAX = 253_402_300_799_999;

/** An instant that clients write: integer Unix milliseconds in requests and responses alike. */
export function instant(options: FieldOptions = {}): Field {
  const schema = Type.Integer({ format: 'int64', minimum: INSTANT_MS_MIN, maximum: INSTANT_MS_MAX });
  return field({ kind: 'instant', column: 'integer', schema, example: 1_767_225_600_000 }, options);
}

/** An instant that the service sets: Unix milliseconds stored, RFC 3339 UTC with milliseconds shown. */
export function timestamp(options: FieldOptions = {}): Field {
  return field(
    {
      kind: 'timestamp',
      column: 'integer',
      schema: Type.String({ format: 'date-time' }),
      access: 'read',
      example: '2026-01-01T00:00:00.000Z',
      encode: (value) => (typeof value === 'string' ? Date.parse(value) : (value as number | null)),
      decode: (column) => (column === null ? null : instantText(Number(column))),
    },
    options,
  );
}

/** A calendar day, `YYYY-MM-DD`. */
export function date(options: FieldOptions = {}): Field {
  const schema = Type.String({ format: 'date' });
  return field({ kind: 'date', column: 'text', schema, example: '2026-03-31' }, options);
}

/** One of the named values. */
export function enumeration(
  values: readonly string[],
  options: FieldOptions & { initial?: string } = {},
): Field {
  const { initial = null, nullable = initial === null && !options.required, ...rest } = options;
  const shape = { kind: 'enum', column: 'text', schema: Type.Enum([...values]) } as const;
  return field({ ...shape, initial, nullable, example: initial ?? values[0] ?? null }, rest);
}

/** The id of a record of another resource, or of a user. */
export function reference(references: string, options: FieldOptions = {}): Field {
  const schema = idSchema();
  const example = exampleId(references);
  return field({ kind: 'reference', column: 'text', schema, references, example }, options);
}

/**
 * Schema of an id. Text of any form is one that names nothing, which is told where it is looked up; the format only says
 * what it is.
 */
export function idSchema(options: { description?: string; examples?: string[] } = {}): TSchema {
  return Type.String({ format: 'id', maxLength: NAME_CHARACTERS_MAX, ...options });
}

/** An id for examples: the same for the same kind of record, and another for every other kind. */
export function exampleId(kind: string): string {
  return `019b76da-a800-7000-8000-${Bun.hash(kind).toString(16).padStart(12, '0').slice(-12)}`;
}
