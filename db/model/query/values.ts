// The values in the conditions of a query: what each family of fields accepts, and the form in which they are compared.
import { enumFault, type Fault, typeFault, type ValidationCode } from '../faults.ts';
import { INSTANT_MS_MAX, INSTANT_MS_MIN } from '../fields.ts';
import { rfc3339Ms } from '../instants.ts';
import { isObject, type JsonValue } from '../json.ts';
import type { Operator, QueryField, ValueFamily } from './fields.ts';
import { lowerCase } from './text-order.ts';

/** A value as it is compared: text in lower case, truth as 0 or 1, instants in Unix milliseconds, days as text. */
export type QueryValue = string | number | boolean;

/** A value that a condition accepts, or what is wrong with it. */
export type ReadValue = { value: QueryValue } | { fault: Fault };

const MINUTE_MS = 60_000;
const UNITS_MS: Readonly<Record<string, number>> = {
  h: 60 * MINUTE_MS,
  d: 24 * 60 * MINUTE_MS,
  w: 7 * 24 * 60 * MINUTE_MS,
};
const SPAN = /^([1-9]\d{0,8})([hdw])$/;
const DAY = /^\d{4}-\d\d-\d\d$/;
const DAY_LENGTH = 10;

/** Whether a JSON object is an instant relative to now. */
export function isRelative(value: JsonValue): boolean {
  return isObject(value) && ['ago', 'ahead'].some((name) => Object.hasOwn(value, name));
}

/**
 * The value of a condition.
 * @param now what relative instants count from, in Unix milliseconds
 */
export function readQueryValue(
  { family, field }: QueryField,
  operator: Operator,
  path: string,
  value: JsonValue,
  now: number,
): ReadValue {
  if (value === null)
    return failed(path, 'must not be null; to find records without a value, use {"is_null": true}');
  return READERS[family]({ path, value, now, operator, values: enumOf(field?.schema) });
}

interface Given {
  path: string;
  value: Exclude<JsonValue, null>;
  now: number;
  operator: Operator;
  /** Those of an enum. */
  values: readonly string[];
}

const READERS: Readonly<Record<ValueFamily, (given: Given) => ReadValue>> = {
  text: readText,
  texts: readText,
  id: readId,
  ids: readId,
  link: readId,
  enum: ({ path, value, values }) =>
    typeof value === 'string' && values.includes(value) ? { value } : { fault: enumFault(path, values) },
  boolean: ({ path, value }) =>
    typeof value === 'boolean' ? { value: value ? 1 : 0 } : { fault: typeFault(path, ['boolean']) },
  number: readNumber,
  instant: readInstant,
  date: readDay,
  custom: readCustom,
};

function readText({ path, value }: Given): ReadValue {
  return typeof value === 'string' ? { value: lowerCase(value) } : { fault: typeFault(path, ['string']) };
}

function readId({ path, value }: Given): ReadValue {
  return typeof value === 'string' ? { value } : failed(path, 'must be an ID, a string');
}

function readNumber({ path, value }: Given): ReadValue {
  return typeof value === 'number' ? { value } : { fault: typeFault(path, ['number']) };
}

const TEXT_ONLY: ReadonlySet<Operator> = new Set(['contains', 'starts_with']);
const NUMBERS_ONLY: ReadonlySet<Operator> = new Set(['lt', 'lte', 'gt', 'gte', 'between']);

function readCustom(given: Given): ReadValue {
  const { path, value, operator } = given;
  if (TEXT_ONLY.has(operator)) return readText(given);
  if (NUMBERS_ONLY.has(operator)) return readNumber(given);
  if (typeof value === 'string') return { value: lowerCase(value) };
  if (typeof value === 'number' || typeof value === 'boolean') return { value };
  return { fault: typeFault(path, ['string', 'number', 'boolean']) };
}

const INSTANT =
  'a date and time such as "2026-01-31T09:30:00Z", Unix milliseconds, {"ago": "30d"} or {"ahead": "7d"} (h, d or w)';

function readInstant({ path, value, now }: Given): ReadValue {
  if (isRelative(value)) return readRelative(path, value, now);
  if (typeof value === 'string') {
    const ms = rfc3339Ms(value);
    return ms === undefined ? failed(path, `must be ${INSTANT}`, 'VALIDATION_INVALID_FORMAT') : { value: ms };
  }
  if (typeof value !== 'number' || !Number.isInteger(value)) return failed(path, `must be ${INSTANT}`);
  return withinYears(path, value);
}

function readDay({ path, value, now }: Given): ReadValue {
  if (isRelative(value)) {
    const read = readRelative(path, value, now);
    return 'fault' in read
      ? read
      : { value: new Date(Number(read.value)).toISOString().slice(0, DAY_LENGTH) };
  }
  const message = 'must be a date in the form YYYY-MM-DD, {"ago": "30d"} or {"ahead": "7d"} (h, d or w)';
  if (typeof value !== 'string') return failed(path, message);
  const isDay = DAY.test(value) && rfc3339Ms(`${value}T00:00:00Z`) !== undefined;
  return isDay ? { value } : failed(path, message, 'VALIDATION_INVALID_FORMAT');
}

function readRelative(path: string, value: JsonValue, now: number): ReadValue {
  const [[name = '', span] = [], ...others] = Object.entries(value ?? {});
  if (others.length > 0) return failed(path, 'must have either ago or ahead, and nothing else');
  const own = `${path}.${name}`;
  const [, count, unit = ''] = (typeof span === 'string' && SPAN.exec(span)) || [];
  if (count === undefined) {
    const message = 'must be a whole number of at least 1 followed by h, d or w, such as "30d"';
    return failed(own, message, typeof span === 'string' ? 'VALIDATION_INVALID_FORMAT' : 'VALIDATION_FAILED');
  }
  const length = Number(count) * (UNITS_MS[unit] ?? 0);
  return withinYears(own, now + (name === 'ago' ? -length : length));
}

function withinYears(path: string, value: number): ReadValue {
  if (value >= INSTANT_MS_MIN && value <= INSTANT_MS_MAX) return { value };
  return failed(path, 'must be in the years 0000 to 9999', 'VALIDATION_OUT_OF_RANGE');
}

function enumOf(schema: unknown): readonly string[] {
  return (schema as { enum?: readonly string[] } | undefined)?.enum ?? [];
}

function failed(path: string, message: string, code: ValidationCode = 'VALIDATION_FAILED'): ReadValue {
  return { fault: { path, message, code } };
}
