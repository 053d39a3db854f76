// The fields of `crm api`, as gh has them: -f gives text, -F a value of its own type, and brackets go into objects.
import { type Data, isObject, type JsonValue } from '../../db/model/json.ts';
import { splitPair } from '../api/pairs.ts';
import { type CliError, usageError } from '../errors.ts';
import { readInputText } from '../input/files.ts';

export interface GivenField {
  key: string;
  value: JsonValue;
}

const KEYWORDS: Readonly<Record<string, JsonValue>> = { true: true, false: false, null: null };
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** The fields in the order of the two flags, each with its value. */
export async function givenFields(texts: readonly string[], typed: readonly string[]): Promise<GivenField[]> {
  const plain = texts.map((text) => splitPair(text, '-f'));
  const values = typed.map(async (text) => {
    const { key, value } = splitPair(text, '-F');
    return { key, value: await typedValue(value) };
  });
  return [...plain, ...(await Promise.all(values))];
}

async function typedValue(text: string): Promise<JsonValue> {
  if (text.startsWith('@')) return readInputText(text.slice(1));
  if (Object.hasOwn(KEYWORDS, text)) return KEYWORDS[text] ?? null;
  // More digits than a number can hold stay text.
  return NUMBER.test(text) && Number.isFinite(Number(text)) && String(Number(text)) === text
    ? Number(text)
    : text;
}

/** The object that the fields describe. */
export function objectOf(fields: readonly GivenField[]): Data {
  const body: Data = {};
  for (const field of fields) setField(body, field);
  return body;
}

function setField(body: Data, { key, value }: GivenField): void {
  const [, name = '', rest = ''] = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(key) ?? [];
  if (name === '') throw badKey(key);
  const parts = [name, ...[...rest.matchAll(/\[([^[\]]*)\]/g)].map(([, part = '']) => part)];
  const last = parts.pop() ?? '';
  let place = body;
  for (const [index, part] of parts.entries()) {
    if (part === '') throw badKey(key);
    const isList = last === '' && index === parts.length - 1;
    const found = Object.hasOwn(place, part) ? place[part] : undefined;
    if (isList) {
      if (found !== undefined && !Array.isArray(found)) throw twice(key);
      place[part] = [...(found ?? []), value];
      return;
    }
    if (found !== undefined && !isObject(found)) throw twice(key);
    const inner: Data = isObject(found) ? found : {};
    place[part] = inner;
    place = inner;
  }
  if (Object.hasOwn(place, last)) throw twice(key);
  place[last] = value;
}

function badKey(key: string): CliError {
  return usageError(`"${key}" is not the name of a field.`, 'use name, name[key] or name[].');
}

function twice(key: string): CliError {
  return usageError(`"${key}" is given twice.`, 'use each field only once; name[]=value adds to a list.');
}
