// Values of --where in the types of their fields, as the filter of a query has them.
import { INSTANT_MS_MAX } from '../../db/model/fields.ts';
import { rfc3339Ms } from '../../db/model/instants.ts';
import type { Data, JsonValue } from '../../db/model/json.ts';
import type { Operator, QueryField } from '../../db/model/query/fields.ts';
import { singularOf, withArticle } from '../../db/model/text.ts';
import { commandForIds } from '../api/ids.ts';
import { nameKindOf } from '../api/names.ts';
import { choiceOf, choicesOf, DECIMAL } from '../input/field-value.ts';
import { DAY_MS, isoMilliseconds } from '../input/instant.ts';
import { isOurId } from '../input/record-id.ts';
import { idRangeOf } from '../input/short-id.ts';
import { didYouMean } from '../nearest.ts';
import type { Refuse } from './refusal.ts';
import type { Value } from './syntax.ts';

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const SPAN = /^[1-9]\d{0,4}[hdw]$/;

/** The value that an operator compares a field with, for fields of any family but instants. */
export function comparedValue(
  field: QueryField,
  operator: Operator,
  value: Value,
  refuse: Refuse,
): JsonValue {
  const { name, family } = field;
  const { text, at } = value;
  if (family === 'date') return dayOf(name, value, refuse);
  if (value.isAhead) throw refuse(at, `expected no "ahead", because ${name} is not a time.`);
  switch (family) {
    case 'number':
      return numberOf(name, value, refuse);
    case 'boolean':
      if (!value.isQuoted && isBoolean(text)) return text === 'true';
      throw refuse(at, `expected true or false for ${name}.`);
    case 'enum':
      return choiceFor(field, value, refuse);
    case 'id':
    case 'ids':
    case 'link':
      return idFor(field, value, refuse);
    case 'custom':
      return customValue(name, operator, value, refuse);
    default:
      return text;
  }
}

/** Whether a value is a day, which for a field of instants is all of it, in UTC. */
export function isDay({ text, isAhead }: Value): boolean {
  return DAY.test(text) && !isAhead;
}

/** The operators that compare a field of instants with times. */
export function comparedTimes(
  field: QueryField,
  operator: Operator,
  values: readonly Value[],
  refuse: Refuse,
): Data {
  const times = values.map((value) => timeOf(field, value, refuse));
  const [first, last] = [times[0] ?? null, times.at(-1) ?? null];
  if (operator === 'in' || operator === 'not_in') return { [operator]: times };
  const end = values.at(-1);
  const next = end !== undefined && isDay(end) ? nextDay(end.text) : null;
  if (operator === 'between') return next === null ? { between: [first, last] } : { gte: first, lt: next };
  if (next === null || operator === 'lt' || operator === 'gte') return { [operator]: first };
  return { eq: { gte: first, lt: next }, lte: { lt: next }, gt: { gte: next } }[String(operator)] ?? {};
}

function timeOf({ name }: QueryField, value: Value, refuse: Refuse): JsonValue {
  const { text, at, isAhead } = value;
  const span = spanOf(value);
  if (span !== undefined) return span;
  const ms = isAhead ? undefined : (isoMilliseconds(text) ?? rfc3339Ms(text));
  if (ms !== undefined) return new Date(ms).toISOString();
  const days = '2026-11-21, 7d (seven days ago) or ahead 7d';
  throw refuse(at, `expected a time for ${name}.`, `write 2026-11-21T09:00:00Z, ${days}. Units: h, d, w.`);
}

function nextDay(day: string): string {
  const ms = (isoMilliseconds(day) ?? 0) + DAY_MS;
  return new Date(Math.min(ms, INSTANT_MS_MAX)).toISOString();
}

function dayOf(name: string, value: Value, refuse: Refuse): JsonValue {
  const span = spanOf(value);
  if (span !== undefined) return span;
  const { text, at, isAhead } = value;
  if (!isAhead && DAY.test(text) && isoMilliseconds(text) !== undefined) return text;
  throw refuse(
    at,
    `expected a day for ${name}.`,
    'write 2026-11-21, 7d (seven days ago) or ahead 7d. Units: h, d, w.',
  );
}

// Relative to when the server begins with the query.
function spanOf({ text, isQuoted, isAhead }: Value): JsonValue | undefined {
  if (isQuoted || !SPAN.test(text)) return undefined;
  return { [isAhead ? 'ahead' : 'ago']: text };
}

function numberOf(name: string, { text, at, isQuoted }: Value, refuse: Refuse): number {
  if (!isQuoted && isNumber(text)) return Number(text);
  throw refuse(at, `expected a number for ${name}.`, 'write it like 48000 or -0.5, without quotes.');
}

// Custom fields have no declared type: what is written like a number or a boolean is one.
function customValue(name: string, operator: Operator, value: Value, refuse: Refuse): JsonValue {
  const { text, isQuoted } = value;
  if (operator === 'contains' || operator === 'starts_with') return text;
  if (['lt', 'lte', 'gt', 'gte', 'between'].includes(operator)) return numberOf(name, value, refuse);
  if (isQuoted) return text;
  if (isBoolean(text)) return text === 'true';
  return isNumber(text) ? Number(text) : text;
}

function isNumber(text: string): boolean {
  return DECIMAL.test(text) && Number.isFinite(Number(text));
}

function isBoolean(text: string): boolean {
  return text === 'true' || text === 'false';
}

function choiceFor({ name, field }: QueryField, { text, at }: Value, refuse: Refuse): string {
  const choices = field === null ? [] : choicesOf(field);
  const choice = choiceOf(choices, text);
  if (choice !== undefined) return choice;
  throw refuse(
    at,
    `expected one of the values of ${name}.${didYouMean(text, choices)}`,
    `use one of: ${choices.join(', ')}.`,
  );
}

function idFor({ name, field, relation }: QueryField, { text, at }: Value, refuse: Refuse): string {
  if (isOurId(text)) return text;
  const owner = relation?.target.name ?? field?.references ?? '';
  const hasShortIds = name === 'id' || (owner !== '' && owner !== 'users' && owner !== 'stages');
  if (hasShortIds && idRangeOf(text) !== undefined) return text;
  // `id` and `created_by` say of themselves whose ID they are.
  if (owner === '')
    throw refuse(at, `expected an ID for ${name}.`, 'an ID looks like 019b76da-a800-7000-8000-000000000000.');
  const kind = field === null ? undefined : nameKindOf(owner);
  const named = kind === undefined ? [] : [`write ${kind} = ${quotedWord(text)} to give the name.`];
  const steps = [...named, `${commandForIds(owner)}   (lists the IDs)`];
  throw refuse(at, `expected the ID of ${withArticle(singularOf(owner))} for ${name}.`, ...steps);
}

function quotedWord(text: string): string {
  return /^[\w.@-]+$/.test(text) ? text : `"${text}"`;
}
