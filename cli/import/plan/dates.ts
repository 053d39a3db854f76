// Dates as files write them: ISO, Unix milliseconds, and slashed ones once it is known which number is the month.
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

interface Parts {
  year: number;
  month: number;
  day: number;
  timeMs: number;
}

const SLASHED = /^(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?:,?[ T]+(.+))?$/;
const ISO = /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[ T]+(.+))?$/;
const COMPACT = /^(\d{4})(\d{2})(\d{2})$/;
const TIME =
  /^(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(am|pm|AM|PM)?\s*(Z|z|UTC|GMT|[+-]\d{2}:?\d{2})?$/;

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
  const { year, month, day } = readParts(value, rules, header);
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}

/** An instant in Unix milliseconds; a time without a zone is UTC, a day without a time is its midnight. */
export function readInstant(text: string, rules: DateRules, header: string): number {
  const value = text.trim();
  if (/^-?\d+$/.test(value) && !isCompact(value, rules)) return readMs(value, rules);
  const { year, month, day, timeMs } = readParts(value, rules, header);
  return utcOf(year, month, day) + timeMs;
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

function readParts(value: string, rules: DateRules, header: string): Parts {
  const iso = ISO.exec(value) ?? (isCompact(value, rules) ? COMPACT.exec(value) : null);
  if (iso !== null) return checkedParts(value, iso[1], iso[2], iso[3], iso[4]);
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
  const [month, day] = order === 'mdy' ? [slashed[1], slashed[3]] : [slashed[3], slashed[1]];
  return checkedParts(value, slashed[4], month, day, slashed[5]);
}

function checkedParts(
  value: string,
  yearText: string | undefined,
  monthText: string | undefined,
  dayText: string | undefined,
  time: string | undefined,
): Parts {
  const [year, month, day] = [Number(yearText), Number(monthText), Number(dayText)];
  const date = new Date(utcOf(year, month, day));
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) {
    throw fault(`"${value}" is no day of the calendar`);
  }
  return { year, month, day, timeMs: time === undefined ? 0 : timeOf(value, time) };
}

function timeOf(value: string, time: string): number {
  const match = TIME.exec(time.trim());
  const [, hourText, minuteText, secondText = '0', fraction = '', half, zone = 'Z'] = match ?? [];
  const hour = half === undefined ? Number(hourText) : (Number(hourText) % 12) + (/p/i.test(half) ? 12 : 0);
  const isHour = half === undefined ? hour < 24 : Number(hourText) >= 1 && Number(hourText) <= 12;
  if (match === null || !isHour || Number(minuteText) > 59 || Number(secondText) > 59) {
    throw fault(
      `"${value}" has no time of day that can be read; write HH:MM or HH:MM:SS, and a zone such as Z`,
    );
  }
  const ms = Number(fraction.padEnd(3, '0').slice(0, 3));
  return ((hour * 60 + Number(minuteText)) * 60 + Number(secondText)) * 1000 + ms - zoneOffsetMs(zone);
}

function zoneOffsetMs(zone: string): number {
  const match = /^([+-])(\d{2}):?(\d{2})$/.exec(zone);
  if (match === null) return 0;
  const minutes = Number(match[2]) * 60 + Number(match[3]);
  return (match[1] === '-' ? -1 : 1) * minutes * 60_000;
}

function utcOf(year: number, month: number, day: number): number {
  const date = new Date(0);
  // Date.UTC would take the years 0–99 for 1900–1999.
  date.setUTCFullYear(year, month - 1, day);
  return date.getTime();
}

function fault(message: string, kind: 'INVALID_FORMAT' | 'OUT_OF_RANGE' = 'INVALID_FORMAT'): RowFault {
  return new RowFault(`VALIDATION_${kind}`, '', message);
}
