// What the schema checker finds, in the words of faults: those of a union's branches become one.
import type { TSchema } from 'typebox';
import { below, beyond, type Fault, malformed, missing, mistyped, notAmong, unknownField } from './faults.ts';
import { isObject } from './json.ts';

/** A fault as the schema checker tells it: JSON Schema's keyword, and JSON pointers. */
export interface SchemaError {
  keyword: string;
  schemaPath: string;
  instancePath: string;
  params: Record<string, unknown>;
}

/** The errors in words, each told once. */
export function faultsOfErrors(errors: readonly SchemaError[], schema: TSchema): Fault[] {
  const sized = new Set(errors.filter(isOfLength).map(({ instancePath }) => instancePath));
  const faults = withoutBranches(errors)
    // Of text that is too long or too short its length alone is told.
    .filter(({ keyword, instancePath }) => keyword !== 'format' || !sized.has(instancePath))
    .flatMap((error) => faultsOf(error, schema));
  return [...new Map(faults.map((fault) => [`${fault.path}\0${fault.message}`, fault])).values()];
}

function isOfLength({ keyword }: SchemaError): boolean {
  return keyword === 'minLength' || keyword === 'maxLength';
}

interface Union {
  error: SchemaError;
  /** The types that its branches take, if the value is of none of them. */
  types: string[];
  /** Whether one of its branches was meant, and tells its own faults. */
  isMeant: boolean;
}

// A union fails in each of its branches: what is told is the branch that was meant, or the types that are allowed.
function withoutBranches(errors: readonly SchemaError[]): SchemaError[] {
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
  const unmeant = [...unions.values()].filter(({ isMeant }) => !isMeant);
  return [
    ...told,
    ...unmeant.map(({ error, types }) => ({ ...error, keyword: 'type', params: { type: types } })),
  ];
}

function unionKey(schemaPath: string, instancePath: string): string {
  return `${schemaPath}\0${instancePath}`;
}

function isTypeOf({ error: union }: Union, error: SchemaError): boolean {
  return error.keyword === 'type' && error.instancePath === union.instancePath;
}

// The unions in one of whose branches the error arose, at its own place in the value or above it.
function unionsAround(
  unions: ReadonlyMap<string, Union>,
  { schemaPath, instancePath }: SchemaError,
): Union[] {
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

function faultsOf({ keyword, params, schemaPath, instancePath }: SchemaError, schema: TSchema): Fault[] {
  const path = instancePath.slice(1).split('/').map(unescapePointer).reduce(below, '');
  switch (keyword) {
    case 'required':
      return (params.requiredProperties as string[]).map((name) => missing(below(path, name)));
    case 'type':
      return [mistyped(path, [params.type].flat().map(String))];
    case 'enum':
      return [notAmong(path, params.allowedValues as unknown[])];
    case 'format':
      return [malformed(path, String(params.format))];
    // The schema `false` stands where a property has no place.
    case 'boolean':
      return [unknownField(path, fieldsBeside(schema, schemaPath))];
  }
  const fault = beyond(path, keyword, params.limit);
  if (fault === undefined) return [];
  const isName = schemaPath.includes('/propertyNames');
  return [isName ? { ...fault, message: `${fault.message} in its name` } : fault];
}

// The fields of the object whose additional properties the schema at that place is of.
function fieldsBeside(schema: TSchema, schemaPath: string): string[] {
  const segments = schemaPath.split('/').slice(1, -1).map(unescapePointer);
  const around = segments.reduce<unknown>(
    (at, key) => (at as Record<string, unknown> | undefined)?.[key],
    schema,
  );
  return isObject(around) && isObject(around.properties) ? Object.keys(around.properties) : [];
}

function unescapePointer(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}
