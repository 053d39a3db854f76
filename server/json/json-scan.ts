// One interruptible pass over the bytes of a JSON text before it is parsed: counts values and locates elements.

export const NESTING_MAX = 32;
// Four times what the largest valid batch needs. Limits the memory and time of the steps that follow.
export const VALUES_MAX = 100_000;
// A number with fewer digits is within ±(2^53−1), unless it has an exponent.
const SAFE_DIGITS = 15;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPENING_BRACKET = 0x5b;

/** Where an element of the outermost array is in the bytes, and how many colons it has outside strings. */
export interface ElementPlace {
  start: number;
  /** The comma or bracket that ends it, or the end of the bytes if there is none. */
  end: number;
  colons: number;
}

/** Scans bytes, JSON or not, in steps. */
export class JsonScan {
  /** Colons outside strings: in valid JSON, the number of keys. */
  colons = 0;
  /** Whether a number could be out of range. */
  hasLongNumbers = false;
  /** Whether nesting or the number of values is too high; the survey stops there. */
  tooMuch: 'levels' | 'values' | null = null;
  /** The elements of the outermost array, if requested and the text starts with one. */
  readonly elements: ElementPlace[] = [];
  readonly #bytes: Uint8Array;
  readonly #wantsElements: boolean;
  #at = 0;
  #isInString = false;
  #depth = 0;
  #values = 0;
  #digits = 0;
  #elementStart = -1;
  #elementColons = 0;

  constructor(bytes: Uint8Array, { withElements = false }: { withElements?: boolean } = {}) {
    this.#bytes = bytes;
    this.#wantsElements = withElements;
  }

  /** Whether the scan is complete. */
  get isDone(): boolean {
    return this.tooMuch !== null || this.#at >= this.#bytes.length;
  }

  /** Scans this many more bytes; all remaining ones by default. */
  advance(count: number = this.#bytes.length): this {
    const bytes = this.#bytes;
    const end = Math.min(bytes.length, this.#at + count);
    let at = this.#at;
    let isInString = this.#isInString;
    let digits = this.#digits;
    for (; at < end; at++) {
      const byte = bytes[at] as number;
      if (isInString) {
        if (byte === BACKSLASH) at++;
        else if (byte === QUOTE) isInString = false;
      } else if (byte >= 0x30 && byte <= 0x39) {
        if (++digits > SAFE_DIGITS) this.hasLongNumbers = true;
      } else {
        if (byte === QUOTE) isInString = true;
        else if (byte === COLON) this.colons++;
        else if (byte === COMMA) this.#comma(at);
        else if (byte === 0x7b || byte === OPENING_BRACKET) this.#open(at);
        else if (byte === 0x7d || byte === 0x5d) this.#close(at);
        else if ((byte === 0x65 || byte === 0x45) && digits > 0) this.hasLongNumbers = true;
        digits = 0;
        if (this.tooMuch !== null) break;
      }
    }
    this.#at = at;
    this.#isInString = isInString;
    this.#digits = digits;
    if (at >= bytes.length) this.#endElement(bytes.length);
    return this;
  }

  #comma(at: number): void {
    this.#countValue();
    if (this.#depth !== 1 || this.#elementStart < 0) return;
    this.#endElement(at);
    this.#elementStart = at + 1;
  }

  #open(at: number): void {
    this.#countValue();
    this.#depth++;
    if (this.#depth > NESTING_MAX) this.tooMuch ??= 'levels';
    const isOutermost = this.#wantsElements && this.#values === 1 && this.#bytes[at] === OPENING_BRACKET;
    if (isOutermost) this.#elementStart = at + 1;
  }

  #close(at: number): void {
    if (this.#depth > 0) this.#depth--;
    if (this.#depth === 0) this.#endElement(at);
  }

  #countValue(): void {
    if (++this.#values > VALUES_MAX) this.tooMuch ??= 'values';
  }

  #endElement(end: number): void {
    if (this.#elementStart < 0) return;
    this.elements.push({ start: this.#elementStart, end, colons: this.colons - this.#elementColons });
    this.#elementColons = this.colons;
    this.#elementStart = -1;
  }
}
