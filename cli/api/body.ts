// Request bodies from the command line: JSON as given, or field=value with the declared types.
import type { Field } from '../../db/model/fields.ts';
import type { Data } from '../../db/model/json.ts';
import { isObject } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { messageOf, usageError } from '../errors.ts';
import { readInputText } from '../input/files.ts';
import type { IdFinder } from './id-finder.ts';
import { type GivenValues, givenValues } from './values.ts';

/** What to send: JSON text, which the server validates as written, or values, some of which have to be found. */
export type RequestBody = { rawBody: string } | { values: GivenValues };

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
  if (pairs.length > 0) return { values: givenValues(pairs, fields) };
  const example = Object.keys(fields)[0] ?? 'field';
  throw usageError('No values given.', `add values, like ${example}=value, or a JSON object with -d.`);
}

/** The body as a request takes it. */
export async function sentBody(
  body: RequestBody,
  finder: IdFinder,
  pipelineId?: () => Promise<string>,
): Promise<{ rawBody: string } | { body: Data }> {
  return 'rawBody' in body ? body : { body: await body.values.found(finder, pipelineId) };
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
