// Email addresses in free text: finds them, and removes them.
import { isObject, type JsonValue } from '../model/json.ts';
import { DOT_ESCAPE, formsOf, JOINING_ESCAPE, OTHER_ESCAPE, SOFT_BREAK, WORD_ESCAPE } from './escapes.ts';

/** The replacement for erased data of a person. */
export const ERASED = '[erased]';

// Characters that make an adjacent address part of a longer one: letters and digits on both sides, a dot or plus with a
// letter before it on the left, a dot with a letter after it on the right, plain or escaped. "-" and "_" can be part of
// an address as well, but in text they more often separate one, and a false match is better than a miss.
const WORD = '[\\p{L}\\p{N}\\p{M}]';
const BEFORE = [
  '^',
  `[^\\p{L}\\p{N}\\p{M}.+]`,
  OTHER_ESCAPE,
  `(?<=^|[^\\p{L}\\p{N}\\p{M}]|${OTHER_ESCAPE})(?:[.+]|${JOINING_ESCAPE})`,
].join('|');
const AFTER = [WORD, WORD_ESCAPE, `(?:\\.|${DOT_ESCAPE})(?:[\\p{L}\\p{N}]|${WORD_ESCAPE})`].join('|');
// Occurs in every escaped form, but not in the plain one.
const IS_CODED = /[%&=\\\uff20]/;
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
    const forms = this.list.map(formOf).join('|');
    // Looked at first, because what stands before costs more to tell.
    const firsts = this.list.map(([first = '']) => RegExp.escape(first)).join('|');
    this.#pattern = new RegExp(`(?=[%=&\\\\]|${firsts})(?<=${BEFORE})(?:${forms})(?!${AFTER})`, 'giu');
  }

  /** Whether a value is one of them. */
  has(value: JsonValue | undefined): boolean {
    return typeof value === 'string' && this.list.includes(value.toLowerCase());
  }

  /** Whether a text contains one of them. */
  isIn(text: string): boolean {
    if (!mayHold(text)) return false;
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

  /** Whether one occurs in the values of a stored text, which is JSON or plain: in JSON, "\\" hides an escape. */
  isInStored(text: string, isOfAddresses = false): boolean {
    if (!mayHold(text)) return false;
    return this.isInValue(storedValue(text), isOfAddresses);
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

// Whether a text has anything that an "@" can be written with.
function mayHold(text: string): boolean {
  return text.includes('@') || IS_CODED.test(text);
}

function storedValue(text: string): JsonValue {
  if (!/^[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

// What an address is written with, in whatever case.
function formOf(address: string): string {
  return [...address].map(characterOf).join(`(?:${SOFT_BREAK})?`);
}

function characterOf(character: string): string {
  if (character === '@') return `(?:${formsOf(['@', '\uff20'])}|&commat;)`;
  const upper = character.toUpperCase();
  return `(?:${formsOf(upper.length === 1 && upper !== character ? [character, upper] : [character])})`;
}
