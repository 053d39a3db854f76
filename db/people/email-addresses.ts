// Email addresses in text that somebody wrote: where they stand, and the text without them.
import { isObject, type JsonValue } from '../model/json.ts';

/** What stands where something of a person was. */
export const ERASED = '[erased]';

// What an address is a part of when it stands beside it. Letters and digits make it longer on both sides, a dot or plus
// with a letter before it on the left, a dot with a letter after it on the right. Nothing else does: "-" and "_" may be
// part of an address, yet in text they are more often what stands around one, and it is better found than missed.
const WORD = '[\\p{L}\\p{N}\\p{M}]';
// As a URL has any byte, however often it was encoded; and those that are letters and digits.
const PERCENT = '%(?:25)*';
const ENCODED_WORD = '(?:3\\d|[46][1-9a-f]|[57][\\da])';
// As JSON and program text have a line break or a tab.
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
// What any of these forms but the plain one has.
const IS_CODED = /[%&\\\uff20]/;
// Beside these it may have been a part of a longer address.
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

  /** Whether one of them stands in a text. */
  isIn(text: string): boolean {
    if (!text.includes('@') && !IS_CODED.test(text)) return false;
    this.#pattern.lastIndex = 0;
    return this.#pattern.test(text);
  }

  /** The same of what holds an address and nothing else: another one is not it, even if it ends alike. */
  isAt(text: string): boolean {
    return PLAIN_ADDRESS.test(text) ? this.has(text) : this.isIn(text);
  }

  /** Whether one stands anywhere in a value, its keys included. */
  isInValue(value: JsonValue, isOfAddresses = false): boolean {
    if (typeof value === 'string') return isOfAddresses ? this.isAt(value) : this.isIn(value);
    if (Array.isArray(value)) return value.some((item) => this.isInValue(item, isOfAddresses));
    if (!isObject(value)) return false;
    return Object.entries(value).some(([key, item]) => this.isIn(key) || this.isInValue(item, isOfAddresses));
  }

  /** Whether one stands in a text so that it may have been a part of a longer address. */
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

  /** What holds an address and nothing else without them. */
  takenOutAt(text: string): string {
    return this.isAt(text) ? this.takenOutOf(text) : text;
  }
}

// A character as it is, or as a URL has its bytes.
function formsOf(character: string): string {
  const bytes = [...Buffer.from(character)].map((byte) => PERCENT + byte.toString(16).padStart(2, '0'));
  const forms = character === '@' ? AT : [RegExp.escape(character)];
  const upper = character.toUpperCase();
  if (upper !== character && upper.length === 1)
    forms.push([...Buffer.from(upper)].map((byte) => PERCENT + byte.toString(16).padStart(2, '0')).join(''));
  return `(?:${[...forms, bytes.join('')].join('|')})`;
}
