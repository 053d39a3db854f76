// Finds the currency code that an amount is written with, before the number or after it: `USD 48,000.00`.

const CHARACTERS_MAX = 64;
const CODE_FIRST = /^([+-]?\s*)([A-Z]{3})(?![A-Za-z])\s*(\P{L}*)$/u;
const CODE_LAST = /^(\P{L}*\d\P{L}*?)\s*([A-Z]{3})$/u;

/** An amount as it is written, and the ISO 4217 code beside it, null if there is none. */
export interface WrittenAmount {
  amount: string;
  code: string | null;
}

let codes: ReadonlySet<string> | undefined;

/** Separates an amount from the code of its currency; text without a known code stays whole. */
export function splitAmount(text: string): WrittenAmount {
  const whole = { amount: text, code: null };
  if (text.length > CHARACTERS_MAX) return whole;
  const written = text.trim();
  const [, sign = '', first, after = ''] = CODE_FIRST.exec(written) ?? [];
  const [, before = '', last] = CODE_LAST.exec(written) ?? [];
  const code = first ?? last;
  codes ??= new Set(Intl.supportedValuesOf('currency'));
  if (code === undefined || !codes.has(code)) return whole;
  return { amount: first === undefined ? before : sign + after, code };
}
