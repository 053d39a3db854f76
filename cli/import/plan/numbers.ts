// Reads numbers from files: currency signs, thousands separators, and decimal points or commas.
import { clip } from '../../../db/model/text.ts';
import { splitAmount } from './amounts.ts';

/** What unambiguous cells of one column show about its decimal mark. */
export interface NumberEvidence {
  point?: string;
  comma?: string;
  /** Such as `1.250`, which can only be 1250 in a column of whole numbers. */
  thousandsPoint?: string;
}

/** `both`: some cells have a decimal point and some a decimal comma. */
export type DecimalMark = 'point' | 'comma' | 'both';

/** The decimal mark by header; ambiguous columns are missing. */
export type NumberRules = ReadonlyMap<string, DecimalMark>;

const CHARACTERS_MAX = 64;
// A sign, a currency sign before or after, spaces of any width and apostrophes between groups.
const WRITTEN = /^([+-]?)\s*(?:[A-Z]{0,3}\p{Sc})?\s*([+-]?)(\d[\d.,'’\s]*?|[.,]\d+)\s*(?:\p{Sc})?$/u;
const GROUPED = /^\d{1,3}(?:(['’\s.,])\d{3})(?:\1\d{3})*$/u;

/** Records one value of a column if it has a separator. */
export function addNumberEvidence(found: Map<string, NumberEvidence>, header: string, value: unknown): void {
  if (typeof value !== 'string' || value.length > CHARACTERS_MAX) return;
  const last = Math.max(value.lastIndexOf('.'), value.lastIndexOf(','));
  if (last === -1) return;
  const known = found.get(header);
  // A separator that occurs once, after all others, can only be the decimal mark, or is ambiguous.
  const isSingle = value.indexOf(value[last] ?? '') === last;
  if (isSingle && known?.[value[last] === '.' ? 'point' : 'comma'] !== undefined) return;
  const written = splitAmount(value).amount;
  const digits = digitsOf(written) ?? '';
  const mark = markOf(digits);
  const isThousandsPoint = mark === undefined && /^\d{1,3}\.(?!000$)\d{3}$/.test(digits);
  if (mark === undefined && !isThousandsPoint) return;
  const evidence = known ?? {};
  found.set(header, evidence);
  evidence[mark ?? 'thousandsPoint'] ??= value.trim();
}

/** The decimal mark of each of the given columns, by header. */
export function decideNumbers(
  found: ReadonlyMap<string, NumberEvidence>,
  columns: readonly { header: string; isInteger: boolean }[],
  flags: { decimalComma: boolean },
): NumberRules {
  const rules = new Map<string, DecimalMark>();
  for (const { header, isInteger } of columns) {
    const { point, comma, thousandsPoint } = found.get(header) ?? {};
    if (flags.decimalComma) rules.set(header, 'comma');
    else if (point !== undefined && comma !== undefined) rules.set(header, 'both');
    else if (comma !== undefined || (isInteger && point === undefined && thousandsPoint !== undefined)) {
      rules.set(header, 'comma');
    } else if (point !== undefined) rules.set(header, 'point');
  }
  return rules;
}

/** A number without currency sign and separators, with a decimal point, or why it is ambiguous; other text unchanged. */
export function plainNumber(
  text: string,
  mark: DecimalMark | undefined,
  isInteger: boolean,
): { plain: string } | { fault: string; mayBeComma?: true } {
  const value = text.trim();
  const digits = digitsOf(value);
  if (digits === undefined) return { plain: value };
  const own = markOf(digits);
  const read = mark === 'both' ? (own ?? 'both') : (mark ?? own ?? usualMark(digits, isInteger));
  if (mark === 'both' && read !== 'point' && /[.,]/.test(digits)) {
    const message =
      'is ambiguous, because the column has decimal points and decimal commas; write it as 1234.5';
    return { fault: `"${clip(value)}" ${message}` };
  }
  if (read === undefined) {
    const [asDecimal, asWhole] = [Number(digits.replace(',', '.')), digits.replace(/[.,]/, '')];
    const what = `may be ${asDecimal} or ${asWhole}`;
    const fault = `"${clip(value)}" ${what}; use --decimal-comma, or remove thousands separators`;
    return { fault, mayBeComma: true };
  }
  const number = ungrouped(digits, read === 'comma' ? 'comma' : 'point');
  if (number !== undefined) return { plain: signOf(value) + number };
  return {
    fault:
      read === 'comma'
        ? `"${clip(value)}" is not a valid number with a decimal comma, as set by --decimal-comma or its column; write it as 1234,5`
        : `"${clip(value)}" is not a valid number; write it as 1234.5`,
  };
}

/** How to read an ambiguous cell in an ambiguous column; undefined if that is not certain. */
function usualMark(digits: string, isInteger: boolean): 'point' | undefined {
  if (!/^\d{1,3}[.,]\d{3}$/.test(digits)) return 'point';
  // In a column of whole numbers, 1.000 may be one with decimals, or a thousand.
  if (digits.includes('.')) return isInteger && digits.endsWith('.000') ? undefined : 'point';
  return isInteger ? 'point' : undefined;
}

/** The decimal mark that a single cell proves; undefined for `1,200`, and for other text. */
function markOf(digits: string): 'point' | 'comma' | undefined {
  const separators = digits.match(/[^\d]/gu) ?? [];
  const last = separators.at(-1);
  if (last !== '.' && last !== ',') return undefined;
  const [asDecimal, asGroups] = last === '.' ? (['point', 'comma'] as const) : (['comma', 'point'] as const);
  if (separators.some((one) => one !== last)) {
    return ungrouped(digits, asDecimal) === undefined ? undefined : asDecimal;
  }
  if (separators.length > 1) return GROUPED.test(digits) ? asGroups : undefined;
  // One separator that cannot separate thousands, because of the digits after or before it.
  return /^(?:[1-9]\d{0,2})[.,]\d{3}$/.test(digits) ? undefined : asDecimal;
}

/** Digits with at most a decimal point; undefined if a group does not have three digits. */
function ungrouped(digits: string, mark: 'point' | 'comma'): string | undefined {
  const [decimal, group] = mark === 'point' ? ['.', ','] : [',', '.'];
  const [whole = '', fraction, ...more] = digits.split(decimal);
  if (more.length > 0 || (fraction !== undefined && !/^\d*$/.test(fraction))) return undefined;
  const isWhole = /^\d*$/.test(whole) || (GROUPED.test(whole) && !whole.includes(decimal));
  if (!isWhole || (whole === '' && fraction === '')) return undefined;
  const bare = whole.replaceAll(group, '').replace(/['’\s]/gu, '');
  return fraction === undefined ? bare : `${bare || '0'}.${fraction}`;
}

/** Digits and separators of a number, without its sign and currency; undefined for other text. */
function digitsOf(value: string): string | undefined {
  if (value.length > CHARACTERS_MAX) return undefined;
  const [, before, after, digits] = WRITTEN.exec(value.trim()) ?? [];
  return before !== '' && after !== '' ? undefined : digits;
}

function signOf(value: string): string {
  return value.slice(0, value.search(/\d/)).includes('-') ? '-' : '';
}
