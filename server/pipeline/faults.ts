// What a client is told of each fault that the schema checker finds: where it is, what is allowed there, and its code.
import type { TSchema } from 'typebox';
import type { Detail, ValidationCode } from '../errors.ts';
import { below } from './json.ts';

/** A fault as the schema checker tells it: JSON Schema's keyword, and JSON pointers. */
export interface Fault {
  keyword: string;
  schemaPath: string;
  instancePath: string;
  params: Record<string, unknown>;
}

/** The faults in words, those of a union's branches as one. */
export function detailsOf(errors: Fault[], schema: TSchema): Detail[] {
  return withoutBranches(errors).flatMap((error) => describe(error, schema));
}

interface Union {
  error: Fault;
  /** The types that its branches take, if the value is of none of them. */
  types: string[];
  /** Whether one of its branches was meant, and tells its own faults. */
  isMeant: boolean;
}

// A union fails in each of its branches: what is told is the branch that was meant, or the types that are allowed.
function withoutBranches(errors: Fault[]): Fault[] {
  const unions = new Map<string, Union>();
  for (const error of errors) {
    if (error.keyword === 'anyOf')
      unions.set(unionKey(error.schemaPath, error.instancePath), { error, types: [], isMeant: false });
  }
  const told = errors.filter((error) => {
    const around = unionsAround(unions, error);
    const types = around.filter((union) => isTypeOf(union, error));
    for (const union of types) union.types.push(String(error.params.type));
    for (const union of around) if (!types.includes(union)) union.isMeant = true;
    return types.length === 0 && error.keyword !== 'anyOf';
  });
  const mistyped = [...unions.values()].filter(({ isMeant }) => !isMeant);
  return [
    ...told,
    ...mistyped.map(({ error, types }) => ({ ...error, keyword: 'type', params: { type: types } })),
  ];
}

function unionKey(schemaPath: string, instancePath: string): string {
  return `${schemaPath}\0${instancePath}`;
}

function isTypeOf({ error: union }: Union, error: Fault): boolean {
  return error.keyword === 'type' && error.instancePath === union.instancePath;
}

// The unions in one of whose branches the error arose, at its own place in the value or above it.
function unionsAround(unions: ReadonlyMap<string, Union>, { schemaPath, instancePath }: Fault): Union[] {
  const around: Union[] = [];
  for (let end = schemaPath.indexOf('/anyOf/'); end >= 0; end = schemaPath.indexOf('/anyOf/', end + 1)) {
    const schema = schemaPath.slice(0, end);
    for (let path = instancePath; ; path = path.slice(0, path.lastIndexOf('/'))) {
      const union = unions.get(unionKey(schema, path));
      if (union !== undefined) around.push(union);
      if (path === '') break;
    }
  }
  return around;
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
  const path = error.instancePath.slice(1).split('/').map(unescapePointer).reduce(below, '');
  if (error.keyword === 'required') {
    const names = error.params.requiredProperties as string[];
    return names.map((name) => ({
      path: below(path, name),
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
