// The kinds of field a resource can have: each defines its JSON Schema, its column and the conversion between them.
import { type TSchema, Type } from 'typebox';
import { instantText } from './instants.ts';
import type { JsonValue } from './json.ts';
import { NOT_BLANK, textKey } from './text.ts';

export type ColumnType = 'text' | 'integer' | 'real';
export type ColumnValue = string | number | null;

/** How a field is parsed, typed and looked up; the CLI's import selects its parser by it. */
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
  | 'references'
  | 'custom'
  | 'json';

export interface Field {
  readonly kind: FieldKind;
  /** Column type, or null for a field that is computed when a record is shown. */
  readonly column: ColumnType | null;
  /** JSON Schema of a non-null value, as a client sends it. */
  readonly schema: TSchema;
  /** The same for a create, if that accepts less. */
  readonly createSchema: TSchema;
  /** JSON Schema of a non-null value, as a response contains it. */
  readonly responseSchema: TSchema;
  /**
   * Who sets it: the client at any time (`write`), on create only (`create`), on create without being stored in the record
   * (`input`), the service (`read`), or the service for internal use, never shown (`internal`).
   */
  readonly access: 'write' | 'create' | 'input' | 'read' | 'internal';
  /** Whether it is required on create. */
  readonly required: boolean;
  /** Whether it can be null in a response. */
  readonly nullable: boolean;
  /** Whether null in a body clears it. */
  readonly clearable: boolean;
  /** What a create stores if the client leaves the field out. */
  readonly initial: JsonValue;
  /** The resource (or `users`) that the value is an ID of; for a list, each of its values. */
  readonly references: string | undefined;
  /**
   * The key for looking up the whole value, null if it is not looked up. The shadow column `<name>_key` stores it if it
   * differs from the value.
   */
  readonly key: ((value: string) => string) | null;
  readonly description: string;
  readonly example: JsonValue;
  /**
   * Names of this field in exports of other products, `#` for any number. If several columns match, the first one wins: the
   * field's own name, unless it is in the list, then these in their order.
   */
  readonly aliases: readonly string[];
  readonly encode: (value: JsonValue) => ColumnValue;
  readonly decode: (column: ColumnValue) => JsonValue;
}

/** Options of a field, apart from its kind. */
export interface FieldOptions {
  required?: boolean;
  access?: Field['access'];
  nullable?: boolean;
  clearable?: boolean;
  key?: (value: string) => string;
  /** If a create accepts less than an update. */
  createSchema?: TSchema;
  /** If a response differs from what is sent. */
  responseSchema?: TSchema;
  description?: string;
  example?: JsonValue;
  aliases?: readonly string[];
}

export type Shape = Pick<Field, 'kind' | 'column' | 'schema'> & Partial<Field>;

/** The conversion of a field that is stored in its shown form. */
export const unchanged = (value: JsonValue): ColumnValue => value as ColumnValue;

/** The shadow column of a field that has a key. */
export function keyColumn(name: string): string {
  return `${name}_key`;
}

/** A field of that shape with the options of its declaration. */
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
    encode: unchanged,
    decode: unchanged,
    ...shape,
    ...options,
  };
}

export const NAME_CHARACTERS_MAX = 1_000;
export const EMAIL_CHARACTERS_MAX = NAME_CHARACTERS_MAX;
export const LONG_TEXT_CHARACTERS_MAX = 10_000;

/** Schema of text that is not blank: it contains a character other than white space. */
export function nonBlankText(options: { maxLength: number; examples?: string[] }): TSchema {
  return Type.String({ pattern: NOT_BLANK, ...options });
}

/** Text of at most `maxLength` code points (1,000 by default); required text must not be blank. */
export function text(options: FieldOptions & { maxLength?: number } = {}): Field {
  const { maxLength = NAME_CHARACTERS_MAX, ...rest } = options;
  const schema = rest.required ? nonBlankText({ maxLength }) : Type.String({ maxLength });
  return field({ kind: 'text', column: 'text', schema }, rest);
}

/** One email address, stored as written and compared case-insensitively. */
export function email(options: FieldOptions = {}): Field {
  const schema = Type.String({ format: 'email', maxLength: EMAIL_CHARACTERS_MAX });
  return field({ kind: 'email', column: 'text', schema, example: 'ada@example.com' }, options);
}

/** An internet domain; `normalizeDomain` returns the stored form. */
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

/** The instants that RFC 3339 can express: the years 0000 to 9999. */
export const INSTANT_MS_MIN = -62_167_219_200_000;
export const INSTANT_MS_MAX = 253_402_300_799_999;

/** An instant that clients set: integer Unix milliseconds in requests and responses. */
export function instant(options: FieldOptions = {}): Field {
  const schema = Type.Integer({ format: 'int64', minimum: INSTANT_MS_MIN, maximum: INSTANT_MS_MAX });
  return field({ kind: 'instant', column: 'integer', schema, example: 1_767_225_600_000 }, options);
}

/** An instant that the service sets: stored as Unix milliseconds, shown as RFC 3339 UTC with milliseconds. */
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

/** The ID of a record of another resource, or of a user. */
export function reference(references: string, options: FieldOptions = {}): Field {
  const schema = idSchema();
  const example = exampleId(references);
  return field({ kind: 'reference', column: 'text', schema, references, example }, options);
}

/**
 * Schema of an ID. It accepts any text, because the lookup rejects unknown IDs; the format only documents what it is.
 */
export function idSchema(options: { description?: string; examples?: string[] } = {}): TSchema {
  return Type.String({ format: 'id', maxLength: NAME_CHARACTERS_MAX, ...options });
}

/** An example id: the same for one kind of record, and different for every other kind. */
export function exampleId(kind: string): string {
  return `019b76da-a800-7000-8000-${Bun.hash(kind).toString(16).padStart(12, '0').slice(-12)}`;
}
