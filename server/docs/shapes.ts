// The parts of an OpenAPI document (3.0 or 3.1) that the page uses, with references resolved.
import { type Data, isObject, type JsonValue } from '../../db/model/json.ts';

export interface SchemaShape {
  /** The name of the component that a reference was resolved from. */
  component?: string;
  type?: string | string[];
  nullable?: boolean;
  description?: string;
  format?: string;
  enum?: JsonValue[];
  const?: JsonValue;
  default?: JsonValue;
  example?: JsonValue;
  examples?: JsonValue[];
  properties?: Record<string, SchemaShape>;
  required?: string[];
  additionalProperties?: boolean | SchemaShape;
  items?: SchemaShape;
  anyOf?: SchemaShape[];
  oneOf?: SchemaShape[];
  allOf?: SchemaShape[];
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  pattern?: string;
  readOnly?: boolean;
}

/** What can have examples: a body, a parameter, a response. */
export interface Exemplified {
  schema?: SchemaShape;
  example?: JsonValue;
  examples?: Record<string, { value: JsonValue }>;
}

export interface Parameter extends Exemplified {
  name: string;
  in: 'path' | 'query' | 'header';
  description?: string;
  required?: boolean;
}

export interface AnswerShape {
  description?: string;
  headers?: Record<string, { description?: string; required?: boolean; schema?: SchemaShape }>;
  content?: Record<string, Exemplified>;
}

export interface Endpoint {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  deprecated?: boolean;
  security?: Data[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, Exemplified> };
  responses: Record<string, AnswerShape>;
}

export interface Description {
  info: { title: string; version: string; description: string };
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, Endpoint>>;
}

/** The description in a document, with its references resolved. */
export function descriptionIn(document: Data): Description {
  return dereference(document) as unknown as Description;
}

/** The examples of a body, a parameter or a response; without any, those of its schema. */
export function examplesOf({ example, examples = {}, schema }: Exemplified): JsonValue[] {
  if (example !== undefined) return [example];
  const own = Object.values(examples).map(({ value }) => value);
  const ofSchema = [schema?.example, ...(schema?.examples ?? [])].filter((value) => value !== undefined);
  return own.length > 0 ? own : ofSchema.slice(0, 1);
}

const SCHEMAS = '#/components/schemas/';

function dereference(document: Data): JsonValue {
  const known = new Map<string, JsonValue>();
  const visit = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map(visit);
    if (!isObject(value)) return value;
    const { $ref, ...own } = value;
    if (typeof $ref !== 'string')
      return Object.fromEntries(Object.entries(own).map(([key, one]) => [key, visit(one)]));
    const target = lookUp($ref);
    return isObject(target) ? { ...target, ...own } : target;
  };
  const lookUp = ($ref: string): JsonValue => {
    const found = known.get($ref);
    if (found !== undefined) return found;
    // Ends a part that refers to itself.
    known.set($ref, {});
    const part = visit(at(document, $ref));
    const isSchema = isObject(part) && $ref.startsWith(SCHEMAS);
    const target = isSchema ? { ...part, component: $ref.slice(SCHEMAS.length) } : part;
    known.set($ref, target);
    return target;
  };
  return visit(document);
}

function at(document: Data, $ref: string): JsonValue {
  const steps = $ref.split('/').slice(1);
  return steps.reduce<JsonValue>((value, step) => {
    const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
    return isObject(value) ? (value[key] ?? {}) : {};
  }, document);
}
