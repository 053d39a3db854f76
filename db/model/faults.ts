// Validation errors, worded once for the server, imports and ingest: path, message and code.
import type { Field } from './fields.ts';
import { singularOf } from './text.ts';

export type ValidationCode =
  | 'VALIDATION_FAILED'
  | 'VALIDATION_REQUIRED_FIELD'
  | 'VALIDATION_INVALID_FORMAT'
  | 'VALIDATION_OUT_OF_RANGE';

/** One fault: the dotted path of the value, what is allowed there, and its public code. */
export type Fault = {
  path: string;
  message: string;
  code: ValidationCode;
};

// Cuts long keys: otherwise a thousand faults below one would each repeat it in full.
const KEY_CHARACTERS_SHOWN_MAX = 256;

/** The dotted path of a key in the value at `path`; a very long key is cut. */
export function keyPath(path: string, key: string): string {
  const isLong = key.length > KEY_CHARACTERS_SHOWN_MAX;
  const shown = isLong ? `${key.slice(0, KEY_CHARACTERS_SHOWN_MAX).toWellFormed()}…` : key;
  return path === '' ? shown : `${path}.${shown}`;
}

const FORMATS: Record<string, string> = {
  email: 'an email address, such as ada@example.com',
  date: 'a date in the form YYYY-MM-DD',
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

/** The fault of a required field that is missing. */
export function requiredFault(path: string): Fault {
  return { path, message: 'is required', code: 'VALIDATION_REQUIRED_FIELD' };
}

/** The fault of required text that is blank. */
export function blankFault(path: string): Fault {
  const message = 'must contain at least one character other than white space';
  return { path, message, code: 'VALIDATION_REQUIRED_FIELD' };
}

/** The fault of a field that does not exist or cannot be sent. */
export function unknownFieldFault(path: string, allowed: readonly string[]): Fault {
  const message = `is not allowed here; allowed: ${allowed.join(', ')}`;
  return { path, message, code: 'VALIDATION_FAILED' };
}

/** The fault of a key with a special meaning in JavaScript objects. */
export function forbiddenKeyFault(path: string): Fault {
  return { path, message: 'is not allowed as a key', code: 'VALIDATION_FAILED' };
}

/** The fault of a value with another type than those allowed, given by their JSON Schema names. */
export function typeFault(path: string, types: readonly string[]): Fault {
  const message = `must be ${types.map((type) => TYPES[type] ?? type).join(' or ')}`;
  return { path, message, code: 'VALIDATION_FAILED' };
}

/** The fault of a value that is not one of the allowed ones. */
export function enumFault(path: string, values: readonly unknown[]): Fault {
  return { path, message: `must be one of: ${values.map(String).join(', ')}`, code: 'VALIDATION_FAILED' };
}

/** The fault of a source of external IDs with other characters than `SOURCE_PATTERN` allows. */
export function charactersFault(path: string): Fault {
  const message = 'must have only the characters a to z, 0 to 9, _, . and -';
  return { path, message, code: 'VALIDATION_INVALID_FORMAT' };
}

/** The fault of text in the wrong format. */
export function formatFault(path: string, format: string): Fault {
  const message = `must be ${FORMATS[format] ?? `a valid ${format}`}`;
  return { path, message, code: 'VALIDATION_INVALID_FORMAT' };
}

/** The fault of an ID without a visible record of the resource (or user). */
export function referenceFault(path: string, resource: string): Fault {
  const message = `must be the ID of an existing ${singularOf(resource)}`;
  return { path, message, code: 'VALIDATION_FAILED' };
}

/** The fault of text that cannot be converted to the field's type. */
export function textFault(path: string, { schema, clearable }: Field): Fault {
  const { type, enum: values } = schema as { type?: string; enum?: readonly unknown[] };
  if (values !== undefined) return enumFault(path, values);
  return typeFault(path, [...(type === undefined ? [] : [type]), ...(clearable ? ['null'] : [])]);
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

/** The fault of a value beyond a limit, given by its JSON Schema keyword; undefined for any other keyword. */
export function limitFault(path: string, keyword: string, limit: unknown): Fault | undefined {
  const message = LIMITS[keyword]?.(limit);
  return message === undefined ? undefined : { path, message, code: 'VALIDATION_OUT_OF_RANGE' };
}

/** Maximum number of faults reported for a body or a batch item. */
const FAULTS_LISTED_MAX = 19;

/** The faults up to that maximum, and how many more there are. */
export function firstFaults<F extends { path: string; message: string; code: string }>(
  faults: readonly F[],
): (F | Fault)[] {
  const more = faults.length - FAULTS_LISTED_MAX;
  if (more <= 0) return [...faults];
  const message = `${more} more ${more === 1 ? 'error is' : 'errors are'} not listed; correct these first`;
  return [...faults.slice(0, FAULTS_LISTED_MAX), { path: '', message, code: 'VALIDATION_FAILED' }];
}
