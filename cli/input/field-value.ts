// Converts text from the command line or a file to a value of the declared type.
import type { Field } from '../../db/model/fields.ts';
import type { JsonValue } from '../../db/model/json.ts';
import { addressesIn } from './addresses.ts';

/** How the source of the text writes dates; both throw for text that they cannot read. */
export interface DateReader {
  /** A calendar day, `YYYY-MM-DD`. */
  day(text: string): string;
  /** Unix milliseconds. */
  instant(text: string): number;
}

/** A number in text, exact. */
export const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?$/;

const WORDS = new Map([
  ...['true', 'yes', 'y', '1'].map((word) => [word, true] as const),
  ...['false', 'no', 'n', '0'].map((word) => [word, false] as const),
]);

/** The value of a text; undefined if the field does not accept it. */
export function valueOfText(field: Field, text: string, dates: DateReader): JsonValue | undefined {
  const value = text.trim();
  switch (field.kind) {
    case 'text':
      return text;
    case 'emails':
      return value.startsWith('[') ? parsed(value) : addressList(value);
    case 'references':
      return value.startsWith('[') ? parsed(value) : value.split(/[\s,;]+/);
    case 'boolean':
      return WORDS.get(value.toLowerCase());
    case 'integer':
    case 'number':
      return DECIMAL.test(value) && Number.isFinite(Number(value)) ? Number(value) : undefined;
    case 'instant':
      return dates.instant(value);
    case 'date':
      return dates.day(value);
    case 'enum':
      return choiceOf(choicesOf(field), value);
    case 'custom':
    case 'json':
      return parsed(value);
    default:
      return value;
  }
}

// Text that does not look like emails is split anyway, so that each invalid part is reported.
function addressList(value: string): string[] {
  const addresses = addressesIn(value);
  if (addresses.length > 0) return addresses;
  const parts = value.split(/[,;]|:::/).map((one) => one.trim());
  return [...new Set(parts.filter((one) => one !== ''))];
}

/** The values of an enum. */
export function choicesOf({ schema }: Field): readonly string[] {
  return (schema as { enum?: readonly string[] }).enum ?? [];
}

/** The choice that a text means: `In progress` and `in-progress` are both `IN_PROGRESS`. */
export function choiceOf(choices: readonly string[], value: string): string | undefined {
  const key = (text: string): string => text.toLowerCase().replace(/[\s-]+/g, '_');
  return choices.find((choice) => key(choice) === key(value));
}

function parsed(value: string): JsonValue | undefined {
  try {
    return JSON.parse(value) as JsonValue;
  } catch {
    return undefined;
  }
}
