// Faults of what was sent, said once for the server, imports and ingest: where, what is allowed there, and a code.
import type { Field } from './fields.ts';
import { singularOf } from './text.ts';

export type ValidationCode =
  | 'VALIDATION_FAILED'
  | 'VALIDATION_REQUIRED_FIELD'
  | 'VALIDATION_INVALID_FORMAT'
  | 'VALIDATION_OUT_OF_RANGE';

/** One fault: the dotted path of what is wrong, what is allowed there, and its public code. */
export type Fault = {
  path: string;
  message: string;
  code: ValidationCode;
};

// Were keys shown whole, a thousand faults below a long one would repeat all of it.
const KEY_CHARACTERS_SHOWN_MAX = 256;

/** The path, dotted, of what stands under a key of the value at `path`; a very long key is cut. */
export function below(path: string, key: string): string {
  const isLong = key.length > KEY_CHARACTERS_SHOWN_MAX;
  const shown = isLong ? `${key.slice(0, KEY_CHARACTERS_SHOWN_MAX).toWellFormed()}…` : key;
  return path === '' ? shown : `${path}.${shown}`;
}

const FORMATS: Record<string, string> = {
  email: 'an email address, such as ada@example.com',
  date: 'a date, YYYY-MM-DD',
  'date-time': 'a date and time, such as 2026-01-31T09:30:00Z',
  domain: 'an internet domain, such as example.com',
  currency: 'an ISO 4217 code in capitals, such as EUR',
};
const TYPES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  null: 'null',
};

/** The fault of a field that must be there. */
export function missing(path: string): Fault {
  return { path, message: 'is required', code: 'VALIDATION_REQUIRED_FIELD' };
}

/** The fault of text that says nothing where something must be said. */
export function blank(path: string): Fault {
  const message = 'must have at least one character that is not white space';
  return { path, message, code: 'VALIDATION_REQUIRED_FIELD' };
}

/** The fault of a name that stands for nothing among the allowed ones. */
export function unknownField(path: string, allowed: readonly string[]): Fault {
  const message = `is not a field that can be sent here; allowed: ${allowed.join(', ')}`;
  return { path, message, code: 'VALIDATION_FAILED' };
}

/** The fault of a key that objects have a meaning of their own for. */
export function forbiddenKey(path: string): Fault {
  return { path, message: 'is a key that is not allowed', code: 'VALIDATION_FAILED' };
}

/** The fault of a value of none of the types, as JSON Schema names them. */
export function mistyped(path: string, types: readonly string[]): Fault {
  const message = `must be ${types.map((type) => TYPES[type] ?? type).join(' or ')}`;
  return { path, message, code: 'VALIDATION_FAILED' };
}

/** The fault of a value that is none of the allowed ones. */
export function notAmong(path: string, values: readonly unknown[]): Fault {
  return { path, message: `must be one of: ${values.map(String).join(', ')}`, code: 'VALIDATION_FAILED' };
}

/** The fault of text that is not in the format. */
export function malformed(path: string, format: string): Fault {
  const message = `must be ${FORMATS[format] ?? `a valid ${format}`}`;
  return { path, message, code: 'VALIDATION_INVALID_FORMAT' };
}

/** The fault of an id that names no record of the resource (or user) that can be seen. */
export function unknownReference(path: string, resource: string): Fault {
  const message = `must be the id of an existing ${singularOf(resource)}`;
  return { path, message, code: 'VALIDATION_FAILED' };
}

/** The fault of text that is no value of the field at all. */
export function unreadableText(path: string, { schema, clearable }: Field): Fault {
  const { type, enum: values } = schema as { type?: string; enum?: readonly unknown[] };
  if (values !== undefined) return notAmong(path, values);
  return mistyped(path, [...(type === undefined ? [] : [type]), ...(clearable ? ['null'] : [])]);
}

const count = (limit: unknown, what: string): string => `${limit} ${what}${limit === 1 ? '' : 's'}`;
const LIMITS: Record<string, (limit: unknown) => string> = {
  minLength: (limit) => `must have at least ${count(limit, 'character')}`,
  maxLength: (limit) => `must have at most ${count(limit, 'character')}`,
  minimum: (limit) => `must be at least ${limit}`,
  maximum: (limit) => `must be at most ${limit}`,
  minItems: (limit) => `must have at least ${count(limit, 'item')}`,
  maxItems: (limit) => `must have at most ${count(limit, 'item')}`,
  maxProperties: (limit) => `must have at most ${count(limit, 'key')}`,
};

/** The fault of a value beyond a limit that a keyword of JSON Schema sets; undefined for any other keyword. */
export function beyond(path: string, keyword: string, limit: unknown): Fault | undefined {
  const message = LIMITS[keyword]?.(limit);
  return message === undefined ? undefined : { path, message, code: 'VALIDATION_OUT_OF_RANGE' };
}

/** Most faults that are listed of one body, or of one item of a batch. */
const FAULTS_LISTED_MAX = 19;

/** As many of the faults as are listed, and how many more there are. */
export function listed<F extends { path: string; message: string; code: string }>(
  faults: readonly F[],
): (F | Fault)[] {
  const more = faults.length - FAULTS_LISTED_MAX;
  if (more <= 0) return [...faults];
  const message = `${more} more ${more === 1 ? 'fault is' : 'faults are'} not listed; correct these first`;
  return [...faults.slice(0, FAULTS_LISTED_MAX), { path: '', message, code: 'VALIDATION_FAILED' }];
}
