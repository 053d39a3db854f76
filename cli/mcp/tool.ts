// What a tool is: its name, its arguments as a JSON Schema, and what it does on the server.
import { type TProperties, type TSchema, Type } from 'typebox';
import type { Field } from '../../db/model/fields.ts';
import type { Data } from '../../db/model/json.ts';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import type { Service } from './service.ts';

/** What clients show people before they allow a call. */
export interface Hints {
  readOnlyHint: boolean;
  /** Whether it can overwrite or remove what is there. */
  destructiveHint: boolean;
  /** Whether a second call with the same arguments changes nothing more. */
  idempotentHint: boolean;
  /** Whether it reaches anything but the one server. */
  openWorldHint: false;
}

export interface Tool {
  name: string;
  title: string;
  description: string;
  input: TSchema;
  hints: Hints;
  /** Carries out a call whose arguments fit `input`, and resolves with the text of the result. */
  run: (given: Data, service: Service) => Promise<string>;
}

export const READING: Hints = {
  ...{ readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  openWorldHint: false,
};
/** Something new each time. */
export const ADDING: Hints = { ...READING, readOnlyHint: false, idempotentHint: false };
/** Values that are there can be replaced. */
export const CHANGING: Hints = { ...READING, readOnlyHint: false, destructiveHint: true };

/** Arguments without unknown ones. */
export function argumentsOf(properties: TProperties): TSchema {
  return Type.Object(properties, { additionalProperties: false });
}

/** One of some names. Some clients refuse an enum without a type. */
export function oneArgumentOf(names: readonly string[], description?: string): TSchema {
  return Type.Unsafe({ type: 'string', enum: [...names], ...(description !== undefined && { description }) });
}

/** Any of some names. */
export function someArgumentsOf(names: readonly string[], description?: string): TSchema {
  return Type.Array(oneArgumentOf(names), description === undefined ? {} : { description });
}

/** Text, with a description. */
export function textArgument(description?: string): TSchema {
  return Type.String(description === undefined ? {} : { description });
}

const TIME_FORMS = 'RFC 3339, a day, or Unix milliseconds';

/** A time, as a date or Unix milliseconds. */
export function timeArgument(note = ''): TSchema {
  return Type.Unsafe({ type: ['string', 'integer'], description: `${TIME_FORMS}${note}` });
}

export const limitArgument = (maximum: number): TSchema =>
  Type.Integer({ minimum: 1, maximum, description: 'Default: 20' });
export const CURSOR = textArgument('From the result before; with the same arguments');

export const RESOURCE = oneArgumentOf(RESOURCES.map(({ name }) => name));
export const INCLUDE = Type.Optional(
  Type.Array(Type.String(), {
    description: 'Related records to show too, such as company; describe lists them',
  }),
);

const ITEM = Type.Unsafe<Data>({ type: 'object' });
const TYPES: Partial<Record<Field['kind'], TSchema>> = {
  boolean: Type.Boolean(),
  emails: Type.Array(Type.String()),
  references: Type.Array(Type.String()),
  custom: Type.Unsafe<Data>({ type: 'object' }),
  json: Type.Array(ITEM),
};
const NAMED_TYPES: Partial<Record<Field['kind'], string[]>> = {
  integer: ['integer'],
  number: ['number'],
  instant: ['string', 'integer'],
};

/**
 * The value of a field in a call, by type alone: the server knows the rest, and says it better.
 * @param takesNull whether null clears it, which makes no sense in a new record
 */
export function fieldValue({ schema, kind }: Field, takesNull: boolean): TSchema {
  const { enum: values } = schema as { enum?: string[] };
  if (values !== undefined) return oneArgumentOf(values);
  const known = TYPES[kind];
  if (known !== undefined) return known;
  const names = [...(NAMED_TYPES[kind] ?? ['string']), ...(takesNull ? ['null'] : [])];
  return Type.Unsafe({
    type: names.length === 1 ? names[0] : names,
    ...(kind === 'instant' && { description: TIME_FORMS }),
  });
}
