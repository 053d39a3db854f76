// Step 7, validation of query parameters: each is known, sent once, not empty, and of the right type.

import { EXTERNAL_ID_EXAMPLE, parseExternalIdName } from '../../db/model/external-ids.ts';
import { enumFault, type Fault, requiredFault, type ValidationCode } from '../../db/model/faults.ts';
import { rfc3339Ms } from '../../db/model/instants.ts';
import type { JsonValue } from '../../db/model/json.ts';
import { validationError } from '../errors.ts';
import type { Operation, QueryParameter } from '../operation.ts';

const UNIX_MS = /^-?\d{1,15}$/;
const INTEGER = /^-?(0|[1-9]\d*)$/;

/** Reads the query parameters of a URL, typed and with defaults; @throws ApiError 422 with all errors */
export type QueryReader = (url: string) => Readonly<Record<string, JsonValue>>;

/** Makes the reader of an operation's query parameters. */
export function queryReader(parameters: Operation['query']): QueryReader {
  const known = new Map(Object.entries(parameters));
  const defaults: Record<string, JsonValue> = {};
  for (const [name, { initial }] of known) if (initial !== undefined) defaults[name] = initial;
  const hasRequired = [...known.values()].some(({ isRequired }) => isRequired === true);
  return (url) => {
    const start = url.indexOf('?');
    if (start < 0 && !hasRequired) return defaults;
    return { ...defaults, ...given(known, start < 0 ? '' : url.slice(start + 1)) };
  };
}

function given(known: Map<string, QueryParameter>, query: string): Record<string, JsonValue> {
  const faults: Fault[] = [];
  const values: Record<string, JsonValue> = {};
  const pairs = queryPairs(query);
  for (const [name, parameter] of known) {
    if (parameter.isRequired === true && !pairs.has(name)) faults.push(missingFault(name, parameter));
  }
  for (const [name, sent] of pairs) {
    const parameter = known.get(name);
    const result = parameter === undefined ? notKnown([...known.keys()]) : readValues(parameter, sent);
    if (isFault(result)) {
      const { message, code } = result;
      faults.push({ path: name, message: message + hintOf(sent), code });
    } else values[name] = result.value;
  }
  if (faults.length > 0) throw validationError(faults);
  return values;
}

type Refusal = { message: string; code: ValidationCode };

function isFault(result: Refusal | { value: JsonValue }): result is Refusal {
  return 'code' in result;
}

/** The values of a query parameter. */
interface Sent {
  /** Decoded; null if that is impossible. */
  texts: (string | null)[];
  /** Whether it contained an unencoded plus, which means a space. */
  hasPlus: boolean;
}

function hintOf({ hasPlus }: Sent): string {
  return hasPlus ? '; a + means a space in a query, so write %2B for a plus' : '';
}

/** The pairs of a query string in order, by name. */
function queryPairs(query: string): Map<string, Sent> {
  const pairs = new Map<string, Sent>();
  const end = query.indexOf('#');
  for (const pair of (end < 0 ? query : query.slice(0, end)).split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const rawName = equals < 0 ? pair : pair.slice(0, equals);
    const name = decode(rawName) ?? rawName;
    const rawValue = equals < 0 ? '' : pair.slice(equals + 1);
    const sent = pairs.get(name) ?? { texts: [], hasPlus: false };
    sent.texts.push(decode(rawValue));
    sent.hasPlus ||= rawValue.includes('+');
    pairs.set(name, sent);
  }
  return pairs;
}

function decode(text: string): string | null {
  if (!/[%+]/.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

function notKnown(known: string[]): Refusal {
  const allowed = known.length === 0 ? 'it does not take any' : `allowed: ${known.join(', ')}`;
  return { message: `is not a query parameter of this path; ${allowed}`, code: 'VALIDATION_FAILED' };
}

function missingFault(name: string, { type }: QueryParameter): Fault {
  const fault = requiredFault(name);
  if (typeof type === 'string') return fault;
  return { ...fault, message: `${fault.message} and ${enumFault(name, type).message}` };
}

function readValues(parameter: QueryParameter, sent: Sent): Refusal | { value: JsonValue } {
  const { texts, hasPlus } = sent;
  const [text = null] = texts;
  const { timesMax } = parameter;
  if (timesMax === undefined) {
    if (texts.length > 1) return { message: 'must be sent only once', code: 'VALIDATION_FAILED' };
    return readValue(parameter, text, hasPlus);
  }
  if (texts.length > timesMax)
    return { message: `must be sent at most ${timesMax} times`, code: 'VALIDATION_OUT_OF_RANGE' };
  const values: JsonValue[] = [];
  for (const one of texts) {
    const result = readValue(parameter, one, hasPlus);
    if (isFault(result)) return result;
    values.push(result.value);
  }
  return { value: values };
}

function readValue(
  parameter: QueryParameter,
  text: string | null,
  hasPlus: boolean,
): Refusal | { value: JsonValue } {
  if (text === null) {
    return { message: 'must be percent-encoded UTF-8', code: 'VALIDATION_INVALID_FORMAT' };
  }
  if (text === '') return { message: 'must not be empty', code: 'VALIDATION_FAILED' };
  if (text.includes('\0')) return { message: 'must not contain a NUL character', code: 'VALIDATION_FAILED' };
  if (parameter.type === 'integer') return integerOf(parameter, text);
  if (parameter.type === 'instant') return instantOf(text);
  if (parameter.type === 'external ID') return externalIdOf(text);
  if (parameter.type === 'text') {
    const isMeantAsPlus = parameter.isAddress === true && hasPlus && text.includes(' ');
    return isMeantAsPlus
      ? { message: 'must not contain a space', code: 'VALIDATION_FAILED' }
      : { value: text };
  }
  const values = parameter.type === 'boolean' ? ['true', 'false'] : parameter.type;
  if (!values.includes(text)) return enumFault('', values);
  return { value: parameter.type === 'boolean' ? text === 'true' : text };
}

function integerOf({ minimum = 0, maximum = 0 }: QueryParameter, text: string): Refusal | { value: number } {
  const range = `an integer from ${minimum} to ${maximum}`;
  if (!INTEGER.test(text)) return { message: `must be ${range}`, code: 'VALIDATION_FAILED' };
  const value = Number(text);
  if (value >= minimum && value <= maximum) return { value };
  return { message: `must be ${range}`, code: 'VALIDATION_OUT_OF_RANGE' };
}

function externalIdOf(text: string): Refusal | { value: string } {
  if (parseExternalIdName(text) !== undefined) return { value: text };
  const source = 'with a source of 1 to 64 of the characters a to z, 0 to 9, _, . and -';
  const message = `must be SOURCE:ID, such as ${EXTERNAL_ID_EXAMPLE}, ${source}`;
  return { message, code: 'VALIDATION_INVALID_FORMAT' };
}

/** Unix milliseconds of an instant in RFC 3339 or Unix milliseconds; undefined if it is neither. */
export function parseInstant(text: string): number | undefined {
  if (UNIX_MS.test(text)) return Number(text);
  return rfc3339Ms(text);
}

function instantOf(text: string): Refusal | { value: number } {
  const value = parseInstant(text);
  if (value !== undefined) return { value };
  const message = 'must be a date and time such as 2026-01-31T09:30:00Z, or Unix milliseconds';
  return { message, code: 'VALIDATION_INVALID_FORMAT' };
}
