// Holds answers against the OpenAPI document: what it does not describe, no test may see.
import { Compile, type Validator } from 'typebox/compile';
import { BoundedMap } from '../../db/cache.ts';
import { openApiDocument } from '../../server/openapi/document.ts';
import type { Json } from './json.ts';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
// Headers that say something of the answer; the document must name each one that is sent.
const TELLING_HEADERS = [
  ...['Location', 'Retry-After', 'Allow', 'WWW-Authenticate', 'Idempotent-Replayed'],
  ...['Deprecation', 'Link'],
];

// By the schema itself, as it stands in the document; and by its text, as many schemas are alike.
const known = new WeakMap<object, Validator>();
const validators = new Map<string, Validator>();

/**
 * Fails, saying why, if an answer is not as the document describes it; paths outside the interface are passed over.
 * @param path as sent, with its query
 * @param body the parsed JSON body; undefined if there is none
 * @param isSelected whether it was asked for with `fields`: its records lack the others, which a schema cannot say without
 *   letting all records lack them
 */
export async function checkAgainstDocument(
  method: string,
  path: string,
  status: number,
  headers: Headers,
  body: Json,
  isSelected = false,
): Promise<void> {
  const document: Json = await openApiDocument();
  const template = templateOf(document, method, path.split(/[?#]/)[0] ?? '');
  if (template === undefined) return;
  const where = `${method} ${template} → ${status}`;
  const response = describedResponse(document, document.paths[template], method, status);
  if (response === undefined) throw new Error(`${where}: the document does not describe this status`);
  checkHeaders(document, response.headers ?? NO_HEADERS, headers, where);
  if (method === 'HEAD') return;
  const content =
    isSelected && status === 200 ? withSomeFields(document, response.content) : response.content;
  checkBody(document, content, headers, body, where);
}

/** The faults of a value against a schema of the document, as readable lines. */
export function faultsAgainst(document: Json, schema: Json, value: Json): string[] {
  const validator = known.get(schema) ?? validatorOf(document, schema);
  known.set(schema, validator);
  if (validator.Check(value)) return [];
  return validator.Errors(value).map((fault) => `${fault.instancePath || '/'} ${fault.message}`);
}

function validatorOf(document: Json, schema: Json): Validator {
  const key = JSON.stringify(schema);
  const validator = validators.get(key) ?? Compile(withoutRefs(document, schema));
  validators.set(key, validator);
  return validator;
}

/** What a reference points to; anything else as it is. */
export function resolved(document: Json, value: Json): Json {
  const ref: unknown = value?.$ref;
  if (typeof ref !== 'string') return value;
  const found = ref
    .slice(2)
    .split('/')
    .reduce((place, key) => place?.[key], document);
  if (found === undefined) throw new Error(`the document refers to ${ref}, which it does not have`);
  return found;
}

const patterns = new Map<string, RegExp>();

function patternOf(template: string): RegExp {
  const pattern = patterns.get(template) ?? new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
  patterns.set(template, pattern);
  return pattern;
}

const ID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g;
const templates = new BoundedMap<string, string | undefined>(1_000);

// Paths that differ in nothing but IDs have the same one.
function templateOf(document: Json, method: string, path: string): string | undefined {
  const shape = `${method} ${path.replaceAll(ID, '{id}')}`;
  return templates.getOrCompute(shape, () => findTemplate(document, method, path));
}

// A path without parameters comes before one that has them, unless only the latter takes the method.
function findTemplate(document: Json, method: string, path: string): string | undefined {
  const matching = Object.keys(document.paths).filter((template) => patternOf(template).test(path));
  const found = matching.sort((a, b) => Number(b === path) - Number(a === path));
  const name = method === 'HEAD' ? 'get' : method.toLowerCase();
  return found.find((template) => document.paths[template][name] !== undefined) ?? found[0];
}

// A method that the path does not take has its 405 described with the methods it does take.
function describedResponse(document: Json, pathItem: Json, method: string, status: number): Json {
  const name = method === 'HEAD' ? 'get' : method.toLowerCase();
  const operation = pathItem[name];
  if (operation !== undefined) return resolved(document, operation.responses[status]);
  if (status !== 405) return undefined;
  const other = METHODS.find((one) => pathItem[one] !== undefined) ?? '';
  return resolved(document, pathItem[other].responses[405]);
}

interface DescribedHeader {
  name: string;
  isRequired: boolean;
  schema: Json;
}

const NO_HEADERS = {};
const headersOf = new WeakMap<object, DescribedHeader[]>();

function describedHeaders(document: Json, described: Json): DescribedHeader[] {
  const known = headersOf.get(described);
  if (known !== undefined) return known;
  const headers = Object.entries(described).map(([name, entry]) => {
    const { required, schema } = resolved(document, entry);
    return { name, isRequired: required === true, schema };
  });
  headersOf.set(described, headers);
  return headers;
}

function checkHeaders(document: Json, described: Json, headers: Headers, where: string): void {
  for (const { name, isRequired, schema } of describedHeaders(document, described)) {
    const text = headers.get(name);
    if (text === null) {
      if (isRequired) throw new Error(`${where}: the header ${name} is missing`);
      continue;
    }
    const value = schema.type === 'integer' && /^\d+$/.test(text) ? Number(text) : text;
    const faults = faultsAgainst(document, schema, value);
    if (faults.length > 0) throw new Error(`${where}: header ${name}: ${text}: ${faults.join('; ')}`);
  }
  const unknown = TELLING_HEADERS.filter((name) => headers.has(name) && described[name] === undefined);
  if (unknown.length > 0)
    throw new Error(`${where}: the document does not describe the header ${unknown.join(', ')}`);
}

function checkBody(document: Json, content: Json, headers: Headers, body: Json, where: string): void {
  if (content === undefined) {
    if (body !== undefined) throw new Error(`${where}: has a body, and the document describes none`);
    return;
  }
  const type = headers.get('Content-Type')?.split(';')[0] ?? 'none';
  if (content[type] === undefined)
    throw new Error(`${where}: the document does not describe a body of type ${type}`);
  const faults = faultsAgainst(document, content[type].schema, body);
  if (faults.length > 0)
    throw new Error(
      `${where}: the body is not as described:\n  ${faults.join('\n  ')}\n${JSON.stringify(body)}`,
    );
}

const selected = new WeakMap<object, Json>();

// The content of a list whose records need have no field but their ID.
function withSomeFields(document: Json, content: Json): Json {
  const known = selected.get(content);
  if (known !== undefined) return known;
  const list = structuredClone(withoutRefs(document, content));
  list['application/json'].schema.properties.data.items.required = ['id'];
  selected.set(content, list);
  return list;
}

// Schemas are JSON Schema as they stand; only references have to be resolved.
function withoutRefs(document: Json, value: Json): Json {
  const found = resolved(document, value);
  if (Array.isArray(found)) return found.map((item) => withoutRefs(document, item));
  if (typeof found !== 'object' || found === null) return found;
  return Object.fromEntries(
    Object.entries<Json>(found).map(([key, item]) => [key, withoutRefs(document, item)]),
  );
}
