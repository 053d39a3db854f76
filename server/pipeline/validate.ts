// Step 7, validation: the body against the operation's schema; every fault with its path and what is allowed.
import type { TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { Format, IsEmail } from 'typebox/format';
import { Settings } from 'typebox/system';
import { type Data, EMAIL_CHARACTERS_MAX, type JsonValue } from '../../db/fields.ts';
import { type Detail, invalid, type ValidationCode, validationError } from '../errors.ts';
import { BATCH_ITEMS_MAX, type Operation } from '../operation.ts';
import { parseJson, unstorable } from './json.ts';

// Every fault is told: an object within the limit below has far fewer.
const FAULTS_MAX = 2_000;
// Twice what `custom` may have. Above that the size is told alone: to go through the keys would take seconds.
const KEYS_MAX = 200;

interface Fault {
  keyword: string;
  schemaPath: string;
  instancePath: string;
  params: Record<string, unknown>;
}

const validators = new WeakMap<TSchema, Validator>();

function validatorOf(schema: TSchema): Validator {
  let validator = validators.get(schema);
  if (validator === undefined) {
    Settings.Set({ maxErrors: FAULTS_MAX });
    // Half a second for a megabyte: what is too long anyway is not looked at, its length is told by the schema.
    Format.Set('email', (text) => text.length > EMAIL_CHARACTERS_MAX || IsEmail(text));
    validator = Compile(schema);
    validators.set(schema, validator);
  }
  return validator;
}

/** What a body is checked against. */
export type BodyRules = Pick<Operation, 'inspect'> & { body: TSchema };

/**
 * The body of a request, valid for its operation; the items of a batch are left for `faultsOf`.
 * @throws ApiError 422 with all faults
 */
export function validateBody(operation: Operation, bytes: Uint8Array, contentType: string | null): JsonValue {
  const { body: schema } = operation;
  if (schema === undefined) return null;
  const { value, isSuspect } = parseJson(bytes, contentType);
  if (operation.isBatch === true) return batchItems(value);
  const faults = bodyFaults(schema, operation.inspect, value, isSuspect);
  if (faults.length > 0) throw validationError(faults);
  return value;
}

function bodyFaults(
  schema: TSchema,
  inspect: Operation['inspect'],
  value: JsonValue,
  isSuspect: boolean,
): Detail[] {
  const faults = isSuspect ? unstorable(value) : [];
  addFaults(faults, faultsOf(schema, value));
  if (inspect !== undefined && isObject(value)) addFaults(faults, inspect(value));
  return faults;
}

// A path that is faulty already is told once.
function addFaults(faults: Detail[], more: Detail[]): void {
  if (more.length === 0) return;
  const told = new Set(faults.map(({ path }) => path));
  faults.push(...more.filter(({ path }) => !told.has(path)));
}

function isObject(value: JsonValue): value is Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function batchItems(value: JsonValue): JsonValue[] {
  if (!Array.isArray(value)) throw invalid('', 'The body must be an array of items.');
  if (value.length <= BATCH_ITEMS_MAX) return value;
  const message = `A batch has at most ${BATCH_ITEMS_MAX} items; this one has ${value.length}.`;
  throw invalid('', message, 'VALIDATION_OUT_OF_RANGE');
}

/** The faults of one item of a batch. */
export function itemFaults({ body, inspect }: BodyRules, item: JsonValue): Detail[] {
  return bodyFaults(body, inspect, item, true);
}

/** The faults of a value against a schema; none if it is valid. */
export function faultsOf(schema: TSchema, value: JsonValue): Detail[] {
  const validator = validatorOf(schema);
  if (validator.Check(value)) return [];
  const oversized = oversizedObject(value);
  if (oversized !== undefined) return [oversized];
  const errors = validator.Errors(value) as unknown as Fault[];
  const details = withoutBranches(errors).flatMap((error) => describe(error, schema));
  // Whatever fails is refused, even where there are no words for it.
  if (details.length === 0) return [{ path: '', message: 'is not valid here', code: 'VALIDATION_FAILED' }];
  const seen = new Set<string>();
  return details.filter(({ path, message }) => {
    const key = `${path}\0${message}`;
    return seen.has(key) ? false : seen.add(key);
  });
}

function oversizedObject(value: JsonValue, path = ''): Detail | undefined {
  if (!isObject(value)) return undefined;
  const count = Object.keys(value).length;
  if (count > KEYS_MAX)
    return { path, message: `has ${count} keys, far more than are allowed`, code: OUT_OF_RANGE };
  for (const [name, item] of Object.entries(value)) {
    const found = oversizedObject(item, path === '' ? name : `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

// A union fails in each of its branches: what is told is the branch that was meant, or the types that are allowed.
function withoutBranches(errors: Fault[]): Fault[] {
  const unions = errors.filter((error) => error.keyword === 'anyOf');
  return unions.reduce((rest, union) => {
    const prefix = `${union.schemaPath}/anyOf/`;
    const isBranch = ({ schemaPath, instancePath }: Fault) =>
      schemaPath.startsWith(prefix) && `${instancePath}/`.startsWith(`${union.instancePath}/`);
    const branches = rest.filter(isBranch);
    const meant = branches.filter(
      (error) => error.keyword !== 'type' || error.instancePath !== union.instancePath,
    );
    const types = branches.flatMap((error) => (error.keyword === 'type' ? [String(error.params.type)] : []));
    const others = rest.filter((error) => error !== union && !isBranch(error));
    if (meant.length > 0) return [...others, ...meant];
    return [...others, { ...union, keyword: 'type', params: { type: types } }];
  }, errors);
}

type Describe = (params: Record<string, unknown>) => [message: string, code: ValidationCode];

const OUT_OF_RANGE = 'VALIDATION_OUT_OF_RANGE';
const FORMATS: Record<string, string> = {
  email: 'must be an email address, such as ada@example.com',
  date: 'must be a date, YYYY-MM-DD',
  'date-time': 'must be a date and time, such as 2026-01-31T09:30:00Z',
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

const DESCRIPTIONS: Record<string, Describe> = {
  type: ({ type }) => [`must be ${namesOf(type).join(' or ')}`, 'VALIDATION_FAILED'],
  enum: ({ allowedValues }) => [
    `must be one of: ${(allowedValues as unknown[]).join(', ')}`,
    'VALIDATION_FAILED',
  ],
  format: ({ format }) => [
    FORMATS[String(format)] ?? `must be a valid ${format}`,
    'VALIDATION_INVALID_FORMAT',
  ],
  minLength: ({ limit }) => [`must have at least ${limit} character${limit === 1 ? '' : 's'}`, OUT_OF_RANGE],
  maxLength: ({ limit }) => [`must have at most ${limit} characters`, OUT_OF_RANGE],
  minimum: ({ limit }) => [`must be at least ${limit}`, OUT_OF_RANGE],
  maximum: ({ limit }) => [`must be at most ${limit}`, OUT_OF_RANGE],
  minItems: ({ limit }) => [`must have at least ${limit} item${limit === 1 ? '' : 's'}`, OUT_OF_RANGE],
  maxItems: ({ limit }) => [`must have at most ${limit} items`, OUT_OF_RANGE],
  maxProperties: ({ limit }) => [`must have at most ${limit} keys`, OUT_OF_RANGE],
};

function namesOf(type: unknown): string[] {
  const types = Array.isArray(type) ? type : [type];
  return types.map((one) => TYPES[String(one)] ?? String(one));
}

function describe(error: Fault, schema: TSchema): Detail[] {
  const path = error.instancePath.slice(1).split('/').map(unescapePointer).join('.');
  const below = (name: unknown) => (path === '' ? String(name) : `${path}.${name}`);
  if (error.keyword === 'required') {
    const names = error.params.requiredProperties as string[];
    return names.map((name) => ({
      path: below(name),
      message: 'is required',
      code: 'VALIDATION_REQUIRED_FIELD',
    }));
  }
  // The schema `false` stands where a property has no place.
  if (error.keyword === 'boolean') {
    const isAtTop = error.instancePath.lastIndexOf('/') === 0;
    const message = isAtTop ? notAllowed(schema) : 'is not a field that can be sent here';
    return [{ path, message, code: 'VALIDATION_FAILED' }];
  }
  const description = DESCRIPTIONS[error.keyword];
  if (description === undefined) return [];
  const [message, code] = description(error.params);
  const isName = error.schemaPath.includes('/propertyNames');
  return [{ path, message: isName ? `${message} in its name` : message, code }];
}

function notAllowed(schema: TSchema): string {
  const properties = 'properties' in schema ? Object.keys(schema.properties as object) : [];
  return `is not a field that can be sent here; allowed: ${properties.join(', ')}`;
}

function unescapePointer(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}
