// Reads dates from files: ISO, slashed dates once the order of day and month is known, digits once their unit is known.

import { instantMs } from '../../../db/model/instants.ts';
import { clip } from '../../../db/model/text.ts';
import { type Remedy, RowFault } from '../row.ts';
import { countedMs, type DateDoubt, type DateFormat, digitsDoubt, isCount } from './date-counts.ts';

export type SlashedOrder = 'mdy' | 'dmy';

/** Which orders the slashed dates of one column allow. */
export interface SlashedEvidence {
  mdy: boolean;
  dmy: boolean;
  /** A date that reads both ways, or the first one seen. */
  example: string;
}

export interface DateRules {
  format: DateFormat | null;
  /** By header. */
  orders: ReadonlyMap<string, SlashedOrder>;
}

interface WrittenDate {
  /** `YYYY-MM-DD`. */
  day: string;
  /** Unix milliseconds. */
  instant: number;
}

const SLASHED = /^(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?:,?[ T]+([^ T].*))?$/;
const ISO = /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[ T]+([^ T].*))?$/;
const COMPACT = /^(\d{4})(\d{2})(\d{2})$/;
const TIME =
  /^(\d{1,2}):(\d{2})(?::([0-5]\d)(?:[.,](\d{1,9}))?)?\s*(?:(am|pm|AM|PM)\s*)?(Z|z|UTC|GMT|[+-]\d{2}:?\d{2})?$/;

/** Records one value of a column if it is a slashed date. */
export function addDateEvidence(found: Map<string, SlashedEvidence>, header: string, value: unknown): void {
  const match = typeof value === 'string' ? SLASHED.exec(value.trim()) : null;
  if (match === null) return;
  const [first, second] = [Number(match[1]), Number(match[3])];
  const evidence = found.get(header) ?? { mdy: false, dmy: false, example: match[0] };
  found.set(header, evidence);
  if (first > 12 && second <= 12) evidence.dmy = true;
  else if (second > 12 && first <= 12) evidence.mdy = true;
  else if (first !== second && !evidence.mdy && !evidence.dmy) evidence.example = match[0];
}

/** What the columns of an input show about their dates. */
export interface DateEvidence {
  slashed: ReadonlyMap<string, SlashedEvidence>;
  /** Ambiguous plain digits, one value per column. */
  digits: ReadonlyMap<string, string>;
}

/** Decides the order of day and month for the given columns, and lists what is ambiguous. */
export function decideDates(
  found: DateEvidence,
  headers: readonly string[],
  format: DateFormat | null,
  isStream: boolean,
): { rules: DateRules; doubts: DateDoubt[] } {
  const isOrder = format === 'mdy' || format === 'dmy';
  const orders = new Map<string, SlashedOrder>(isOrder ? headers.map((header) => [header, format]) : []);
  const rules = { format, orders };
  if (isOrder || format === 'iso') return { rules, doubts: [] };
  const digits = format === null ? headers.filter((header) => found.digits.has(header)) : [];
  const doubts = digits.length === 0 ? [] : [digitsDoubt(digits, found.digits)];
  const slashed = headers.filter((header) => found.slashed.has(header));
  if (isStream) {
    if (slashed.length > 0 && format === null) doubts.push(streamDoubt(slashed, found.slashed));
    return { rules, doubts };
  }
  const undecided = decideOrders(found.slashed, slashed, orders);
  if (undecided.headers.length > 0 && format === null) doubts.push(orderDoubt(undecided, found.slashed));
  return { rules, doubts };
}

/** Sets the orders that are certain; returns the columns whose order is not. */
function decideOrders(
  found: ReadonlyMap<string, SlashedEvidence>,
  headers: readonly string[],
  orders: Map<string, SlashedOrder>,
): { headers: string[]; why: string } {
  const mixed = headers.filter((header) => found.get(header)?.mdy && found.get(header)?.dmy);
  if (mixed.length > 0) return { headers: mixed, why: 'some have the day first and others the month' };
  for (const header of headers) {
    const { mdy = false, dmy = false } = found.get(header) ?? {};
    if (mdy || dmy) orders.set(header, mdy ? 'mdy' : 'dmy');
  }
  // A column with a certain order decides for ambiguous ones, unless another contradicts it.
  const [order, ...others] = new Set(orders.values());
  const silent = headers.filter((header) => !orders.has(header));
  if (order === undefined || others.length > 0) {
    return { headers: silent, why: 'all of them can be read both ways' };
  }
  for (const header of silent) orders.set(header, order);
  return { headers: [], why: '' };
}

/** Of standard input only the first rows are known, which later ones may contradict. */
function streamDoubt(headers: readonly string[], found: ReadonlyMap<string, SlashedEvidence>): DateDoubt {
  const orders = new Map<string, SlashedOrder>();
  const undecided = decideOrders(found, [...headers], orders);
  const [order] = orders.values();
  if (undecided.headers.length > 0 || order === undefined)
    return orderDoubt({ headers, why: 'standard input is read only once' }, found);
  const first = order === 'dmy' ? 'day' : 'month';
  return {
    message: `The dates in ${examplesOf(headers, found)} seem to have the ${first} first, but standard input is read only once.`,
    formats: order === 'dmy' ? ['dmy', 'mdy'] : ['mdy', 'dmy'],
  };
}

function examplesOf(headers: readonly string[], found: ReadonlyMap<string, SlashedEvidence>): string {
  return headers.map((header) => `"${header}" (such as ${found.get(header)?.example})`).join(', ');
}

function orderDoubt(
  { headers, why }: { headers: readonly string[]; why: string },
  found: ReadonlyMap<string, SlashedEvidence>,
): DateDoubt {
  return {
    message: `The dates in ${examplesOf(headers, found)} are ambiguous (month/day/year or day/month/year): ${why}.`,
    formats: ['mdy', 'dmy'],
  };
}

/** A calendar day `YYYY-MM-DD`; the day as written, whatever time and zone follow it. */
export function readDay(text: string, rules: DateRules, header: string): string {
  const value = text.trim();
  if (!isCount(value, rules.format)) return readWritten(value, rules, header).day;
  return new Date(countedMs(value, rules.format)).toISOString().slice(0, 10);
}

/** An instant in Unix milliseconds; a time without a zone is UTC, a day without a time is its midnight. */
export function readInstant(text: string, rules: DateRules, header: string): number {
  const value = text.trim();
  return isCount(value, rules.format)
    ? countedMs(value, rules.format)
    : readWritten(value, rules, header).instant;
}

function readWritten(value: string, rules: DateRules, header: string): WrittenDate {
  const iso = ISO.exec(value) ?? (rules.format === 'iso' ? COMPACT.exec(value) : null);
  if (iso !== null) return checkedDate(value, iso.slice(1, 4), iso[4]);
  const slashed = SLASHED.exec(value);
  if (slashed === null) {
    throw fault(
      `"${clip(value)}" is not a valid date; use YYYY-MM-DD, an ISO date and time, or Unix milliseconds`,
    );
  }
  const order = rules.orders.get(header);
  if (order === undefined) {
    throw fault(
      rules.format === null
        ? `"${clip(value)}" may be month/day or day/month; use --date-format mdy or --date-format dmy`
        : `"${clip(value)}" does not match --date-format ${rules.format}`,
      rules.format === null ? { orElse: [{ dateFormat: 'mdy' }, { dateFormat: 'dmy' }] } : {},
    );
  }
  const [, first = '', , second = '', year = '', time] = slashed;
  return checkedDate(value, order === 'mdy' ? [year, first, second] : [year, second, first], time);
}

function checkedDate(value: string, yearMonthDay: readonly string[], time: string | undefined): WrittenDate {
  const day = yearMonthDay.map((part) => part.padStart(2, '0')).join('-');
  const midnight = instantMs(`${day}T00:00Z`);
  if (midnight === undefined) throw fault(`"${clip(value)}" is not a valid day`);
  const instant = time === undefined ? midnight : instantMs(`${day}T${isoTime(time.trim())}`);
  if (instant !== undefined) return { day, instant };
  throw fault(
    `"${clip(value)}" does not have a valid time of day; use HH:MM or HH:MM:SS, and a zone such as Z`,
  );
}

// '' if it is not a time of day at all; the caller rejects impossible hours and offsets.
function isoTime(time: string): string {
  const [match, hourText = '', minute, second = '00', fraction = '0', half, zone = 'Z'] =
    TIME.exec(time) ?? [];
  const hour = Number(hourText);
  if (match === undefined || (half !== undefined && (hour < 1 || hour > 12))) return '';
  const hour24 = half === undefined ? hour : (hour % 12) + (/p/i.test(half) ? 12 : 0);
  const offset = /^[+-]/.test(zone) ? zone : 'Z';
  return `${String(hour24).padStart(2, '0')}:${minute}:${second}.${fraction}${offset}`;
}

function fault(message: string, remedy: Remedy = {}): RowFault {
  return new RowFault('VALIDATION_INVALID_FORMAT', '', message, remedy);
}
