// Turns the errors of the schema checker into faults.
import type { TSchema } from 'typebox';
import {
  blankFault,
  charactersFault,
  enumFault,
  type Fault,
  formatFault,
  keyPath,
  limitFault,
  requiredFault,
  typeFault,
  unknownFieldFault,
} from './faults.ts';
import { isObject } from './json.ts';
import { NOT_BLANK } from './text.ts';

/** An error of the schema checker: JSON Schema's keyword, and JSON pointers. */
export interface SchemaError {
  keyword: string;
  schemaPath: string;
  instancePath: string;
  params: Record<string, unknown>;
}

/** The errors as faults, without repeats. */
export function faultsOfErrors(errors: readonly SchemaError[], schema: TSchema): Fault[] {
  const sized = new Set(errors.filter(isOfLength).map(({ instancePath }) => instancePath));
  const faults = errors
    // For text that is too long or too short, only its length is reported.
    .filter(({ keyword, instancePath }) => keyword !== 'format' || !sized.has(instancePath))
    .flatMap((error) => faultsOf(error, schema));
  return [...new Map(faults.map((fault) => [`${fault.path}\0${fault.message}`, fault])).values()];
}

function isOfLength({ keyword }: SchemaError): boolean {
  return keyword === 'minLength' || keyword === 'maxLength';
}

function faultsOf({ keyword, params, schemaPath, instancePath }: SchemaError, schema: TSchema): Fault[] {
  const path = instancePath.slice(1).split('/').map(unescapePointer).reduce(keyPath, '');
  switch (keyword) {
    case 'required':
      return (params.requiredProperties as string[]).map((name) => requiredFault(keyPath(path, name)));
    case 'type':
      return [typeFault(path, [params.type].flat().map(String))];
    case 'enum':
      return [enumFault(path, params.allowedValues as unknown[])];
    case 'pattern':
      return [params.pattern === NOT_BLANK ? blankFault(path) : charactersFault(path)];
    case 'format':
      return [formatFault(path, String(params.format))];
    // The schema `false` means that a property is not allowed.
    case 'boolean':
      return [unknownFieldFault(path, fieldsBeside(schema, schemaPath))];
  }
  const fault = limitFault(path, keyword, params.limit);
  if (fault === undefined) return [];
  const isName = schemaPath.includes('/propertyNames');
  return [isName ? { ...fault, message: `${fault.message} in its name` } : fault];
}

// The declared fields of the object that does not allow the property at that path.
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
