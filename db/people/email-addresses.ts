// Email addresses in free text: finds them, and removes them.
import { isObject, type JsonValue } from '../model/json.ts';

/** The replacement for erased data of a person. */
export const ERASED = '[erased]';

// Characters that make an adjacent address part of a longer one: letters and digits on both sides, a dot or plus with a
// letter before it on the left, a dot with a letter after it on the right. "-" and "_" can be part of an address as well,
// but in text they more often separate one, and a false match is better than a miss.
const WORD = '[\\p{L}\\p{N}\\p{M}]';
// A byte in a URL, however often it was encoded, and those of letters and digits.
const PERCENT = '%(?:25)*';
const ENCODED_WORD = '(?:3\\d|[46][1-9a-f]|[57][\\da])';
// A line break or tab in JSON and source code.
const ESCAPED = '\\\\(?:[bfnrt]|u[\\da-f]{4})';
const BEFORE = [
  '^',
  `[^\\p{L}\\p{N}\\p{M}.+]`,
  `(?<!${WORD})[.+]`,
  `${PERCENT}(?!${ENCODED_WORD}|2[be])[\\da-f]{2}`,
  ESCAPED,
].join('|');
const AFTER = [
  WORD,
  `${PERCENT}${ENCODED_WORD}`,
  `(?:\\.|${PERCENT}2e)(?:[\\p{L}\\p{N}]|${PERCENT}${ENCODED_WORD})`,
].join('|');
const AT = ['@', '\uff20', '&#0*64;', '&#x0*40;', '&commat;', '\\\\u0040'];
// Occurs in every encoded form, but not in the plain one.
const IS_CODED = /[%&\\\uff20]/;
// After these characters an address could be part of a longer one.
const DOUBTFUL_BEFORE = /[\p{L}\p{N}][-_]+$/u;
const DOUBTFUL_AFTER = /^[-_][\p{L}\p{N}]/u;
const PLAIN_ADDRESS = /^[^\s@<>()[\]",;:\\%&]+@[^\s@<>()[\]",;:\\%&]+$/;

/** The addresses of one person. */
export class AddressSet {
  /** In lower case. */
  readonly list: readonly string[];
  readonly #pattern: RegExp;

  constructor(addresses: Iterable<string>) {
    this.list = [...new Set([...addresses].map((one) => one.toLowerCase()))];
    const forms = this.list.map((one) => [...one].map(formsOf).join(''));
    this.#pattern = new RegExp(`(?<=${BEFORE})(?:${forms.join('|')})(?!${AFTER})`, 'giu');
  }

  /** Whether a value is one of them. */
  has(value: JsonValue | undefined): boolean {
    return typeof value === 'string' && this.list.includes(value.toLowerCase());
  }

  /** Whether a text contains one of them. */
  isIn(text: string): boolean {
    if (!text.includes('@') && !IS_CODED.test(text)) return false;
    this.#pattern.lastIndex = 0;
    return this.#pattern.test(text);
  }

  /** The same for a field that contains only an address: a different address with the same ending does not match. */
  isAt(text: string): boolean {
    return PLAIN_ADDRESS.test(text) ? this.has(text) : this.isIn(text);
  }

  /** Whether one occurs anywhere in a value, including its keys. */
  isInValue(value: JsonValue, isOfAddresses = false): boolean {
    if (typeof value === 'string') return isOfAddresses ? this.isAt(value) : this.isIn(value);
    if (Array.isArray(value)) return value.some((item) => this.isInValue(item, isOfAddresses));
    if (!isObject(value)) return false;
    return Object.entries(value).some(([key, item]) => this.isIn(key) || this.isInValue(item, isOfAddresses));
  }

  /** Whether a text contains one that could be part of a longer address. */
  isDoubtfulIn(text: string): boolean {
    this.#pattern.lastIndex = 0;
    return [...text.matchAll(this.#pattern)].some(
      ({ index, 0: { length } }) =>
        DOUBTFUL_BEFORE.test(text.slice(0, index)) || DOUBTFUL_AFTER.test(text.slice(index + length)),
    );
  }

  /** A text without them. */
  takenOutOf(text: string): string {
    return this.isIn(text) ? text.replace(this.#pattern, ERASED) : text;
  }

  /** The value of a field that contains only an address, without them. */
  takenOutAt(text: string): string {
    return this.isAt(text) ? this.takenOutOf(text) : text;
  }
}

// A character in plain form, or as the bytes in a URL.
function formsOf(character: string): string {
  const bytes = [...Buffer.from(character)].map((byte) => PERCENT + byte.toString(16).padStart(2, '0'));
  const forms = character === '@' ? AT : [RegExp.escape(character)];
  const upper = character.toUpperCase();
  if (upper !== character && upper.length === 1)
    forms.push([...Buffer.from(upper)].map((byte) => PERCENT + byte.toString(16).padStart(2, '0')).join(''));
  return `(?:${[...forms, bytes.join('')].join('|')})`;
}
