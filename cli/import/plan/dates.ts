// Dates as files write them: ISO, Unix milliseconds, and slashed ones once it is known which number is the month.
import { instantMs } from '../../../db/declare/instants.ts';
import { usageError } from '../../errors.ts';
import type { ImportFlags } from '../flags.ts';
import { RowFault } from '../row.ts';

export type DateFormat = NonNullable<ImportFlags['dateFormat']>;
export type SlashedOrder = 'mdy' | 'dmy';

/** What the slashed dates of one column allow. */
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

const SLASHED = /^(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?:,?[ T]+(.+))?$/;
const ISO = /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[ T]+(.+))?$/;
const COMPACT = /^(\d{4})(\d{2})(\d{2})$/;
const TIME =
  /^(\d{1,2}):(\d{2})(?::([0-5]\d)(?:[.,](\d{1,9}))?)?\s*(am|pm|AM|PM)?\s*(Z|z|UTC|GMT|[+-]\d{2}:?\d{2})?$/;

/** Takes in one value of a column; anything but a slashed date is no evidence. */
export function weighDate(found: Map<string, SlashedEvidence>, header: string, value: unknown): void {
  const match = typeof value === 'string' ? SLASHED.exec(value.trim()) : null;
  if (match === null) return;
  const [first, second] = [Number(match[1]), Number(match[3])];
  const evidence = found.get(header) ?? { mdy: false, dmy: false, example: match[0] };
  found.set(header, evidence);
  if (first > 12 && second <= 12) evidence.dmy = true;
  else if (second > 12 && first <= 12) evidence.mdy = true;
  else if (first !== second && !evidence.mdy && !evidence.dmy) evidence.example = match[0];
}

/** Which order the slashed dates of the given columns have; throws a usage error where that is not certain. */
export function decideDates(
  found: ReadonlyMap<string, SlashedEvidence>,
  headers: readonly string[],
  format: DateFormat | null,
  isStream: boolean,
): DateRules {
  const slashed = headers.filter((header) => found.has(header));
  const orders = new Map<string, SlashedOrder>();
  if (format !== null || slashed.length === 0) {
    if (format === 'mdy' || format === 'dmy') for (const header of headers) orders.set(header, format);
    return { format, orders };
  }
  if (isStream) throw undecided(slashed, found, 'standard input is read only once');
  const seen = new Set<SlashedOrder>();
  for (const header of slashed) {
    const { mdy = false, dmy = false } = found.get(header) ?? {};
    if (mdy && dmy) throw undecided([header], found, 'some have the day first and some the month');
    if (mdy) seen.add('mdy');
    if (dmy) seen.add('dmy');
  }
  for (const header of slashed) {
    const evidence = found.get(header);
    const own = evidence?.mdy ? 'mdy' : evidence?.dmy ? 'dmy' : undefined;
    const order = own ?? (seen.size === 1 ? [...seen][0] : undefined);
    if (order === undefined) throw undecided([header], found, 'all of them can be read both ways');
    orders.set(header, order);
  }
  return { format, orders };
}

function undecided(headers: string[], found: ReadonlyMap<string, SlashedEvidence>, why: string): Error {
  const named = headers.map((header) => `"${header}" (such as ${found.get(header)?.example})`).join(', ');
  return usageError(
    `Is it month/day/year or day/month/year? The dates of ${named} do not tell: ${why}.`,
    'say --date-format mdy or --date-format dmy.',
  );
}

/** A calendar day `YYYY-MM-DD`; the day as written, whatever time and zone follow it. */
export function readDay(text: string, rules: DateRules, header: string): string {
  const value = text.trim();
  if (/^-?\d+$/.test(value) && !isCompact(value, rules)) return dayOfMs(readMs(value, rules));
  return readWritten(value, rules, header).day;
}

/** An instant in Unix milliseconds; a time without a zone is UTC, a day without a time is its midnight. */
export function readInstant(text: string, rules: DateRules, header: string): number {
  const value = text.trim();
  if (/^-?\d+$/.test(value) && !isCompact(value, rules)) return readMs(value, rules);
  return readWritten(value, rules, header).instant;
}

function isCompact(value: string, rules: DateRules): boolean {
  return rules.format === 'iso' && COMPACT.test(value);
}

function readMs(value: string, rules: DateRules): number {
  if (rules.format === null && COMPACT.test(value)) {
    throw fault(
      `"${value}" may be a day (YYYYMMDD) or Unix milliseconds; say --date-format iso or --date-format unix-ms`,
    );
  }
  const ms = Number(value);
  if (Number.isNaN(new Date(ms).getTime())) throw fault(`"${value}" is beyond any date`, 'OUT_OF_RANGE');
  return ms;
}

function dayOfMs(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function readWritten(value: string, rules: DateRules, header: string): WrittenDate {
  const iso = ISO.exec(value) ?? (isCompact(value, rules) ? COMPACT.exec(value) : null);
  if (iso !== null) return checkedDate(value, iso.slice(1, 4), iso[4]);
  const slashed = SLASHED.exec(value);
  if (slashed === null) {
    throw fault(`"${value}" is no date; write YYYY-MM-DD, an ISO date and time, or Unix milliseconds`);
  }
  const order = rules.orders.get(header);
  if (order === undefined) {
    throw fault(
      rules.format === null
        ? `"${value}" may be month/day or day/month; say --date-format mdy or --date-format dmy`
        : `"${value}" is not of the --date-format ${rules.format}`,
    );
  }
  const [, first = '', , second = '', year = '', time] = slashed;
  return checkedDate(value, order === 'mdy' ? [year, first, second] : [year, second, first], time);
}

function checkedDate(value: string, yearMonthDay: readonly string[], time: string | undefined): WrittenDate {
  const day = yearMonthDay.map((part) => part.padStart(2, '0')).join('-');
  const midnight = instantMs(`${day}T00:00Z`);
  if (midnight === undefined) throw fault(`"${value}" is no day of the calendar`);
  const instant = time === undefined ? midnight : instantMs(`${day}T${isoTime(time.trim())}`);
  if (instant !== undefined) return { day, instant };
  throw fault(
    `"${value}" has no time of day that can be read; write HH:MM or HH:MM:SS, and a zone such as Z`,
  );
}

// '' for what is no time of day at all; hours and offsets that no clock has are left to who reads it.
function isoTime(time: string): string {
  const [match, hourText = '', minute, second = '00', fraction = '0', half, zone = 'Z'] =
    TIME.exec(time) ?? [];
  const hour = Number(hourText);
  if (match === undefined || (half !== undefined && (hour < 1 || hour > 12))) return '';
  const hour24 = half === undefined ? hour : (hour % 12) + (/p/i.test(half) ? 12 : 0);
  const offset = /^[+-]/.test(zone) ? zone : 'Z';
  return `${String(hour24).padStart(2, '0')}:${minute}:${second}.${fraction}${offset}`;
}

function fault(message: string, kind: 'INVALID_FORMAT' | 'OUT_OF_RANGE' = 'INVALID_FORMAT'): RowFault {
  return new RowFault(`VALIDATION_${kind}`, '', message);
}
