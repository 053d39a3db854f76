// A cell becomes the value that its field is declared to have, or a fault that says what is allowed.
import type { Field } from '../../../db/declare/fields.ts';
import type { JsonValue } from '../../../db/declare/json.ts';
import { isObject } from '../../../db/declare/json.ts';
import { type DateRules, readDay, readInstant } from '../plan/dates.ts';
import { RowFault } from '../row.ts';

export interface ReadContext {
  header: string;
  dates: DateRules;
  /** A decimal that numbers are multiplied with, such as 1000000. */
  factor?: string | undefined;
}

const TRUE_WORDS = ['true', 'yes', 'y', '1'];
const FALSE_WORDS = ['false', 'no', 'n', '0'];
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?$/;

/** Whether a cell says nothing: null, or text without a character that shows. */
export function isAbsent(value: JsonValue): boolean {
  return value === null || (typeof value === 'string' && value.trim() === '');
}

/** The typed value of a cell that is not absent; throws a RowFault. */
export function readValue(field: Field, value: JsonValue, context: ReadContext): JsonValue {
  if (typeof value === 'string') return readText(field, value, context);
  if (context.factor !== undefined && typeof value === 'number') {
    return readNumber(field, String(value), context.factor);
  }
  return readJson(field, value, context);
}

function readText(field: Field, text: string, context: ReadContext): JsonValue {
  const value = text.trim();
  switch (field.kind) {
    case 'text':
      return text;
    case 'email':
    case 'domain':
    case 'reference':
      return value;
    case 'emails':
      return readEmails(value);
    case 'boolean':
      return readBoolean(value);
    case 'integer':
    case 'number':
      return readNumber(field, value, context.factor);
    case 'instant':
      return readInstant(value, context.dates, context.header);
    case 'date':
      return readDay(value, context.dates, context.header);
    case 'enum':
      return readChoice(field, value);
    case 'custom':
      return readObject(value);
    case 'json':
      return readStructure(value);
    case 'timestamp':
      throw new Error('a timestamp is set by the service');
  }
}

function readJson(field: Field, value: JsonValue, context: ReadContext): JsonValue {
  if (typeof value === 'number') {
    if (field.kind === 'date') return readDay(String(value), context.dates, context.header);
    // Identifiers and telephone numbers often stand as numbers in JSON.
    if (['text', 'reference'].includes(field.kind) && Number.isSafeInteger(value)) return String(value);
    if (field.kind === 'boolean') return readBoolean(String(value));
  }
  return value;
}

function readEmails(value: string): JsonValue {
  const list = value.startsWith('[') ? readStructure(value) : undefined;
  if (Array.isArray(list)) return list;
  const emails = value
    .split(/[,;]|:::/)
    .map((one) => one.trim())
    .filter((one) => one !== '');
  return [...new Set(emails)];
}

function readBoolean(value: string): boolean {
  const word = value.toLowerCase();
  if (TRUE_WORDS.includes(word)) return true;
  if (FALSE_WORDS.includes(word)) return false;
  throw invalid(`"${value}" is neither true nor false; write true/false, yes/no or 1/0`);
}

function readNumber(field: Field, value: string, factor: string | undefined): number {
  if (!DECIMAL.test(value)) {
    const hint = /\d[,'\u00a0 ]\d/.test(value)
      ? '; leave out separators of thousands, and use a decimal point'
      : '';
    throw invalid(`"${value}" is no number${hint}`);
  }
  const number = factor === undefined ? Number(value) : multiply(value, factor);
  if (Math.abs(number) > Number.MAX_SAFE_INTEGER) {
    throw new RowFault('VALIDATION_OUT_OF_RANGE', '', `${value} is beyond ±${Number.MAX_SAFE_INTEGER}`);
  }
  if (field.kind === 'integer' && !Number.isInteger(number)) {
    throw invalid(
      `"${value}" is no whole number${factor === undefined ? '' : ` once multiplied by ${factor}`}`,
    );
  }
  return number;
}

/** The product of two decimals, exact until it becomes a number. */
function multiply(value: string, factor: string): number {
  const [left, right] = [scaled(value), scaled(factor)];
  return Number(`${left.digits * right.digits}e${left.exponent + right.exponent}`);
}

function scaled(decimal: string): { digits: bigint; exponent: number } {
  const [mantissa = '', exponent = '0'] = decimal.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace(/^\+/, '').split('.');
  return { digits: BigInt(`${whole}${fraction}`), exponent: Number(exponent) - fraction.length };
}

function readChoice(field: Field, value: string): string {
  const choices = (field.schema as { enum?: readonly unknown[] }).enum ?? [];
  const key = (text: string): string => text.toLowerCase().replace(/[\s-]+/g, '_');
  const choice = choices.find((one) => key(String(one)) === key(value));
  if (choice !== undefined) return String(choice);
  throw new RowFault('VALIDATION_FAILED', '', `"${value}" is none of ${choices.join(', ')}`);
}

function readObject(value: string): JsonValue {
  const object = readStructure(value);
  if (isObject(object)) return object;
  throw invalid('is no JSON object such as {"key": "value"}');
}

function readStructure(value: string): JsonValue {
  try {
    return JSON.parse(value) as JsonValue;
  } catch {
    throw invalid(`"${value.length > 60 ? `${value.slice(0, 60)}…` : value}" is no JSON`);
  }
}

function invalid(message: string): RowFault {
  return new RowFault('VALIDATION_INVALID_FORMAT', '', message);
}
