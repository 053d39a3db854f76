// Converts a cell to the declared type of its field, or throws a fault that says what is allowed.
import { textFault } from '../../../db/model/faults.ts';
import type { Field } from '../../../db/model/fields.ts';
import type { JsonValue } from '../../../db/model/json.ts';
import { DECIMAL, valueOfText } from '../../input/field-value.ts';
import { type Remedy, RowFault } from '../row.ts';
import { splitAmount } from './amounts.ts';
import { isMilliseconds } from './date-counts.ts';
import { type DateRules, readDay, readInstant } from './dates.ts';
import { type NumberRules, plainNumber } from './numbers.ts';

export interface ReadContext {
  header: string;
  dates: DateRules;
  numbers: NumberRules;
  /** A decimal by which numbers are multiplied, such as 1000000. */
  factor?: string | undefined;
}

/** Whether a cell is empty: null, or text without a visible character. */
export function isAbsent(value: JsonValue): boolean {
  return value === null || (typeof value === 'string' && value.trim() === '');
}

/** The typed value of a cell that is not empty; throws a RowFault. */
export function readValue(field: Field, value: JsonValue, context: ReadContext): JsonValue {
  const { header, dates, factor } = context;
  const written = textOf(field, value, context);
  if (written === undefined) return value;
  const text = isNumber(field) ? plainText(field, written, context) : written;
  const read = valueOfText(field, factor === undefined ? text : product(text, factor), {
    day: (day) => readDay(day, dates, header),
    instant: (instant) => readInstant(instant, dates, header),
  });
  if (read !== undefined) return read;
  const { code, message } = textFault('', field);
  throw new RowFault(code, '', message, choicesOf(field));
}

function choicesOf({ kind, schema, example }: Field): Remedy | undefined {
  if (kind === 'boolean') return { choices: ['yes', 'no'], usual: 'no' };
  const { enum: choices } = schema as { enum?: readonly string[] };
  return kind === 'enum' && choices !== undefined ? { choices, usual: String(example) } : undefined;
}

/** Whether a field contains numbers, which can be multiplied. */
export function isNumber(field: Field | undefined): boolean {
  return field?.kind === 'integer' || field?.kind === 'number';
}

function plainText(field: Field, text: string, { header, numbers }: ReadContext): string {
  const isInteger = field.kind === 'integer';
  const written = isInteger ? text : splitAmount(text).amount;
  const read = plainNumber(written, numbers.get(header), isInteger);
  if ('plain' in read) return read.plain;
  const orElse = read.mayBeComma === true ? [{ decimalComma: true }] : [];
  throw new RowFault('VALIDATION_INVALID_FORMAT', '', read.fault, { orElse });
}

// The text of a value; JSON may contain numbers for fields of other types.
function textOf(field: Field, value: JsonValue, { dates, factor }: ReadContext): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number') return undefined;
  if (field.kind === 'instant')
    return isMilliseconds(String(value), dates.format) ? undefined : String(value);
  // JSON often contains identifiers and phone numbers as numbers.
  const isName = ['text', 'reference'].includes(field.kind) && Number.isSafeInteger(value);
  const isWritten = isName || ['boolean', 'date'].includes(field.kind) || factor !== undefined;
  return isWritten ? String(value) : undefined;
}

// More digits than any number of a record; multiplying longer ones would be slow.
const DIGITS_MAX = 1_000;

// The exact product of two decimals; other text unchanged.
function product(value: string, factor: string): string {
  if (value.length > DIGITS_MAX || !DECIMAL.test(value.trim())) return value;
  const [left, right] = [scaled(value.trim()), scaled(factor)];
  return `${left.digits * right.digits}e${left.exponent + right.exponent}`;
}

function scaled(decimal: string): { digits: bigint; exponent: number } {
  const [mantissa = '', exponent = '0'] = decimal.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace(/^\+/, '').split('.');
  return { digits: BigInt(`${whole}${fraction}`), exponent: Number(exponent) - fraction.length };
}
