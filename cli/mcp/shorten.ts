// Shortens what records contain to the room that a result has, and remembers that something was left out.
import { type Data, isObject, type JsonValue } from '../../db/model/json.ts';
import { jsonLine } from './lines.ts';

/** Where a field goes on that is shown in part; 0 if it has to be shown from its beginning. */
export interface Cut {
  field: string;
  offset: number;
}

/** Values on one line of JSON, and which of them it has in part. */
export interface Line {
  text: string;
  cuts: readonly Cut[];
}

interface Limits {
  /** Of each text. */
  characters: number;
  /** Of each list and object in the values. */
  items: number;
}

// Of a text that is shown beside many others.
const TEXT_CHARACTERS_MIN = 100;

/** The values on one line: of texts no more than `textMax` characters, and of all as much as there is room for. */
export function lineWithin(values: Data, room: number, textMax = Number.POSITIVE_INFINITY): Line {
  const whole = lineOf(values, { characters: textMax, items: Number.POSITIVE_INFINITY });
  if (whole.text.length <= room) return whole;
  const fits = (limits: Limits) => lineOf(values, limits).text.length <= room;
  const characters = Math.min(TEXT_CHARACTERS_MIN, textMax);
  // Texts become shorter before lists do.
  const items = largest(0, room, (count) => fits({ characters, items: count }));
  const longest = Math.min(room, textMax);
  return lineOf(values, {
    items,
    characters: largest(characters, longest, (count) => fits({ characters: count, items })),
  });
}

/** The largest number for which something holds; at least `from`. */
export function largest(from: number, to: number, holds: (count: number) => boolean): number {
  let [low, high] = [from, to + 1];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return low;
}

/** The beginning of a text that is well formed where it was before. */
export function beginningOf(text: string, characters: number): string {
  const isWithinPair = /[\ud800-\udbff]/.test(text.charAt(characters - 1));
  return text.slice(0, isWithinPair ? characters - 1 : characters);
}

function lineOf(values: Data, limits: Limits): Line {
  const cuts: Cut[] = [];
  const shown = Object.entries(values).map(([field, value]): [string, JsonValue] => {
    const shortener = new Shortener(limits);
    const short = shortener.shorten(value);
    if (shortener.isCut) cuts.push({ field, offset: shortener.isCutWithin ? 0 : shownOf(value, limits) });
    return [field, short];
  });
  return { text: jsonLine(Object.fromEntries(shown)), cuts };
}

/** How much of a value that is shown in part is there. */
function shownOf(value: JsonValue, { characters, items }: Limits): number {
  return typeof value === 'string' ? beginningOf(value, characters).length : items;
}

class Shortener {
  readonly #limits: Limits;
  isCut = false;
  /** Whether something in a list or object is cut, and not only its end. */
  isCutWithin = false;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  shorten(value: JsonValue, level = 0): JsonValue {
    const { characters, items } = this.#limits;
    if (typeof value === 'string') {
      if (value.length <= characters) return value;
      this.#cutAt(level);
      return `${beginningOf(value, characters).toWellFormed()}… [cut, ${value.length} characters in all]`;
    }
    if (Array.isArray(value)) {
      const some = value.slice(0, items).map((item) => this.shorten(item, level + 1));
      return value.length <= items ? some : [...some, `[cut, ${this.#left(value.length, level)} more]`];
    }
    if (!isObject(value)) return value;
    const pairs = Object.entries(value);
    const some = Object.fromEntries(
      pairs.slice(0, items).map(([key, item]) => [key, this.shorten(item, level + 1)]),
    );
    return pairs.length <= items ? some : { ...some, '[cut]': `${this.#left(pairs.length, level)} more` };
  }

  #left(count: number, level: number): number {
    this.#cutAt(level);
    return count - this.#limits.items;
  }

  #cutAt(level: number): void {
    this.isCut = true;
    if (level > 0) this.isCutWithin = true;
  }
}
