// A schema in words: its type and the values it allows.
import type { JsonValue } from '../../db/model/json.ts';
import type { SchemaShape } from './shapes.ts';

const NUMBER = new Intl.NumberFormat('en');
const INTEGER_MAX = '2^53−1';

/** A schema as one: parts that apply together are merged, and null is reported separately. */
export function flatten(schema: SchemaShape): { schema: SchemaShape; isNullable: boolean } {
  const { allOf = [], anyOf, oneOf, ...own } = schema;
  const whole = allOf.map((part) => flatten(part).schema).reduce(merge, own);
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) {
    const others = choices.filter((choice) => !isNull(choice));
    const isNullable = others.length < choices.length || whole.nullable === true;
    const [only] = others;
    if (only === undefined || others.length > 1) return { schema: { ...whole, anyOf: others }, isNullable };
    const inner = flatten(only);
    return { schema: merge(inner.schema, whole), isNullable: isNullable || inner.isNullable };
  }
  const types = typesOf(whole);
  const type = types.filter((one) => one !== 'null');
  return {
    schema: type.length === 0 ? whole : { ...whole, type },
    isNullable: whole.nullable === true || type.length < types.length,
  };
}

/** The type in words, such as `string or null` or `list of objects`. */
export function typeOf(schema: SchemaShape): string {
  const { schema: whole, isNullable } = flatten(schema);
  const names = isNullable ? [...namesOf(whole), 'null'] : namesOf(whole);
  return [...new Set(names)].join(' or ');
}

/** The limits of a value beyond its type: `1 to 255 characters`, `0 to 1`, `at most 50 items`. */
export function limitsOf(schema: SchemaShape): string[] {
  const { schema: whole } = flatten(schema);
  const { items, anyOf = [] } = whole;
  const limits = [
    // An ID of the wrong length is simply not found.
    whole.format === 'id' ? undefined : range(whole.minLength, whole.maxLength, 'character'),
    range(whole.minItems, whole.maxItems, 'item'),
    range(undefined, whole.maxProperties, 'key'),
    range(whole.minimum, whole.maximum, ''),
    ...anyOf.flatMap(limitsOf),
    ...(items === undefined ? [] : limitsOf(items).map((limit) => `each ${limit}`)),
    whole.readOnly === true ? 'read-only' : undefined,
  ];
  return [...new Set(limits.filter((limit) => limit !== undefined))];
}

/** The allowed values, if they are listed; for a list, those of its items. */
export function valuesOf(schema: SchemaShape): JsonValue[] {
  const { schema: whole } = flatten(schema);
  if (whole.const !== undefined) return [whole.const];
  if (whole.enum !== undefined) return whole.enum.filter((value) => value !== null);
  const inner = [...(whole.anyOf ?? []), ...(whole.items === undefined ? [] : [whole.items])];
  return inner.flatMap(valuesOf);
}

/** The objects that a value of the schema can be or contain: itself, its choices, or the items of a list. */
export function objectSchemas(schema: SchemaShape): SchemaShape[] {
  const { schema: whole } = flatten(schema);
  if (hasFields(whole)) return [whole];
  return [...(whole.anyOf ?? []), ...(whole.items === undefined ? [] : [whole.items])].flatMap(objectSchemas);
}

/** Whether it is an object whose fields are described. */
export function hasFields({ properties, additionalProperties }: SchemaShape): boolean {
  return properties !== undefined || typeof additionalProperties === 'object';
}

function merge(first: SchemaShape, second: SchemaShape): SchemaShape {
  const properties = { ...first.properties, ...second.properties };
  const required = [...(first.required ?? []), ...(second.required ?? [])];
  return {
    ...first,
    ...second,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  };
}

function isNull(schema: SchemaShape): boolean {
  return schema.type === 'null' || schema.const === null || (schema.enum ?? [0]).every((one) => one === null);
}

function typesOf({ type, enum: values, const: value, properties }: SchemaShape): string[] {
  if (type !== undefined) return [type].flat();
  if (properties !== undefined) return ['object'];
  const listed = value === undefined ? (values ?? []) : [value];
  return [...new Set(listed.map((one) => (one === null ? 'null' : typeof one)))];
}

function namesOf(schema: SchemaShape): string[] {
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf);
  const names = typesOf(schema).map((type) => {
    if (type === 'array')
      return schema.items === undefined ? 'list' : `list of ${plural(typeOf(schema.items))}`;
    return type === 'string' && schema.format !== undefined ? `string (${schema.format})` : type;
  });
  return names.length === 0 ? ['any value'] : names;
}

function plural(name: string): string {
  return name.replace(/^\w+/, (word) => (word === 'any' ? word : `${word}s`));
}

function range(least: number | undefined, most: number | undefined, unit: string): string | undefined {
  const isOne = (most ?? least) === 1;
  const named = (text: string) => (unit === '' ? text : `${text} ${unit}${isOne ? '' : 's'}`);
  const from = least === -Number.MAX_SAFE_INTEGER ? undefined : least;
  const to = most === Number.MAX_SAFE_INTEGER ? undefined : most;
  if (from !== undefined && to !== undefined) return named(`${NUMBER.format(from)} to ${NUMBER.format(to)}`);
  if (to !== undefined) return named(`at most ${NUMBER.format(to)}`);
  if (from !== undefined && !(unit === 'character' && from === 1))
    return named(`at least ${NUMBER.format(from)}`);
  if (from !== undefined) return 'not empty';
  return least === undefined && most === undefined ? undefined : `within ±(${INTEGER_MAX})`;
}
