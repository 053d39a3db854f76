// Request bodies from the command line: JSON as given, or field=value with the declared types.
import { textFault } from '../../db/model/faults.ts';
import type { Field } from '../../db/model/fields.ts';
import type { Data, JsonValue } from '../../db/model/json.ts';
import { isObject } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { singularOf, withArticle } from '../../db/model/text.ts';
import { messageOf, usageError } from '../errors.ts';
import { valueOfText } from '../input/field-value.ts';
import { readInputText } from '../input/files.ts';
import { isoMilliseconds } from '../input/instant.ts';
import { didYouMean } from '../nearest.ts';
import { shellWord } from '../terminal/text.ts';
import { commandForIds } from './ids.ts';
import { splitPair } from './pairs.ts';

/** What to send: JSON text, which the server validates as written, or a body built here. */
export type RequestBody = { rawBody: string } | { body: Data };

/** The body that `-d` or the pairs give; exactly one of the two is required. */
export async function requestBody(
  data: string | undefined,
  pairs: readonly string[],
  fields: Readonly<Record<string, Field>>,
): Promise<RequestBody> {
  if (data !== undefined && pairs.length > 0) {
    throw usageError('Use either -d or field=value, not both.', 'remove one of them.');
  }
  if (data !== undefined) return { rawBody: await jsonObject(data) };
  if (pairs.length > 0) return { body: bodyFromPairs(pairs, fields) };
  const example = Object.keys(fields)[0] ?? 'field';
  throw usageError('No values given.', `add values, like ${example}=value, or a JSON object with -d.`);
}

/** The fields that a create of the resource takes. */
export function createFields(resource: Resource): Record<string, Field> {
  return fieldsWith(resource, (access) => access !== 'read' && access !== 'internal');
}

/** The fields that an update takes. */
export function updateFields(resource: Resource): Record<string, Field> {
  return fieldsWith(resource, (access) => access === 'write');
}

function fieldsWith({ fields }: Resource, isWanted: (access: Field['access']) => boolean) {
  return Object.fromEntries(Object.entries(fields).filter(([, { access }]) => isWanted(access)));
}

/** The text of the JSON object that `-d` gives. */
export async function jsonObject(data: string): Promise<string> {
  const path = data === '-' ? '-' : data.startsWith('@') ? data.slice(1) : undefined;
  const text = (path === undefined ? data : await readInputText(path)).replace(/^\uFEFF/, '');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw usageError(
      `-d is not valid JSON: ${messageOf(cause)}.`,
      'use a JSON object, @FILE, or - for standard input.',
    );
  }
  if (isObject(value)) return text;
  throw usageError('-d is not a JSON object.', 'send one record. To create many, use "crm import".');
}

/** The body from `field=value` pairs; `custom.key=value` sets a custom field, `field=` clears a field. */
export function bodyFromPairs(pairs: readonly string[], fields: Readonly<Record<string, Field>>): Data {
  const body: Data = {};
  const custom: Data = {};
  for (const pair of pairs) {
    const { key: name, value } = splitPair(pair, 'The value');
    const isCustom = name.startsWith('custom.') && fields.custom !== undefined;
    const target = isCustom ? custom : body;
    const key = isCustom ? name.slice('custom.'.length) : name;
    const field = isCustom ? undefined : fields[name];
    if (!isCustom && field === undefined) throw unknownField(name, fields);
    if (Object.hasOwn(target, key))
      throw usageError(`"${name}" is given twice.`, 'use each field only once.');
    target[key] = field === undefined ? value || null : parseValue(name, field, value);
  }
  if (Object.keys(custom).length === 0) return body;
  if (body.custom !== undefined)
    throw usageError('Use either custom or custom.key, not both.', 'remove one of them.');
  return { ...body, custom };
}

function unknownField(name: string, fields: Readonly<Record<string, Field>>) {
  const known = Object.keys(fields).map((field) => (field === 'custom' ? 'custom.KEY' : field));
  return usageError(
    `"${name}" is not a field that you can set here.${didYouMean(name, known)}`,
    `use one or more of: ${known.join(', ')}.`,
  );
}

/** A value from the command line, converted to the type of its field; empty text is null. */
function parseValue(name: string, field: Field, text: string): JsonValue {
  if (text === '' && field.clearable) return null;
  if (text === '') throw emptyValue(name, field);
  const value = valueOfText(field, text, {
    day: (day) => day,
    instant: (instant) => parseInstant(name, instant),
  });
  if (value !== undefined) return value;
  throw usageError(
    `${name} ${textFault(name, field).message}.`,
    `use a value like ${name}=${exampleOf(field)}.`,
  );
}

function emptyValue(name: string, field: Field) {
  const { references, required } = field;
  const give =
    references === undefined
      ? `use a value like ${name}=${exampleOf(field)}`
      : `use the ID of ${withArticle(singularOf(references))} (to list them: ${commandForIds(references)})`;
  return usageError(`${name} cannot be empty.`, required ? `${give}.` : `${give}, or remove it.`);
}

function exampleOf({ example }: Field): string {
  return shellWord(typeof example === 'string' ? example : JSON.stringify(example));
}

function parseInstant(name: string, text: string): number {
  if (/^-?\d+$/.test(text)) return Number(text);
  const milliseconds = isoMilliseconds(text);
  if (milliseconds !== undefined) return milliseconds;
  const expected = 'Unix milliseconds, 2026-03-31, or 2026-03-31T09:00:00Z';
  throw usageError(`${name}: "${text}" is not ${expected}.`, `use ${expected}.`);
}
