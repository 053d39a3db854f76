// Recurrence rules (RFC 5545, section 3.3.10): parsed, checked, and completed from DTSTART.
import { DAY_MS } from '../../input/instant.ts';
import { quoted } from '../entries.ts';
import type { ContentLine } from './blocks.ts';
import { type Moment, readTime, startOfDay } from './values.ts';
import { wallTime } from './zones.ts';

const FREQUENCIES = ['YEARLY', 'MONTHLY', 'WEEKLY', 'DAILY', 'HOURLY', 'MINUTELY', 'SECONDLY'] as const;
export type Frequency = (typeof FREQUENCIES)[number];

/** A weekday, 1 for Monday: every one of a month or year, or the nth, counted from the end if negative. */
export interface Weekday {
  day: number;
  nth: number | null;
}

/** A complete rule: a missing part includes everything. Lists are in order. */
export interface Rule {
  line: number;
  frequency: Frequency;
  interval: number;
  /** Infinite by default. */
  count: number;
  /** The last possible wall time; infinite by default. */
  untilWall: number;
  /** 1 for Monday. */
  weekStart: number;
  months?: readonly number[];
  weeks?: readonly number[];
  yearDays?: readonly number[];
  monthDays?: readonly number[];
  weekdays?: readonly Weekday[];
  hours?: readonly number[];
  minutes?: readonly number[];
  seconds?: readonly number[];
  /** Which times of a period are included; negative numbers count from its end. */
  positions?: readonly number[];
}

interface NumberPart {
  field: 'months' | 'weeks' | 'yearDays' | 'monthDays' | 'hours' | 'minutes' | 'seconds' | 'positions';
  min: number;
  max: number;
  /** Whether negative numbers are allowed. */
  isSigned: boolean;
  /** Frequencies with which the RFC does not allow it. */
  not: readonly Frequency[];
}

const NUMBER_PARTS: Record<string, NumberPart> = {
  BYMONTH: { field: 'months', min: 1, max: 12, isSigned: false, not: [] },
  BYWEEKNO: { field: 'weeks', min: 1, max: 53, isSigned: true, not: FREQUENCIES.slice(1) },
  BYYEARDAY: { field: 'yearDays', min: 1, max: 366, isSigned: true, not: ['MONTHLY', 'WEEKLY', 'DAILY'] },
  BYMONTHDAY: { field: 'monthDays', min: 1, max: 31, isSigned: true, not: ['WEEKLY'] },
  BYHOUR: { field: 'hours', min: 0, max: 23, isSigned: false, not: [] },
  BYMINUTE: { field: 'minutes', min: 0, max: 59, isSigned: false, not: [] },
  BYSECOND: { field: 'seconds', min: 0, max: 60, isSigned: false, not: [] },
  BYSETPOS: { field: 'positions', min: 1, max: 366, isSigned: true, not: [] },
};
const OTHER_PARTS = ['FREQ', 'INTERVAL', 'COUNT', 'UNTIL', 'WKST', 'BYDAY'];
// Parts of RFC 7529 with their default value.
const NEEDLESS = /^(?:RSCALE=GREGORIAN|SKIP=OMIT|X-.*)$/;
const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];
const INTERVAL_MAX = 100_000;
const COUNT_MAX = Number.MAX_SAFE_INTEGER;

type Parts = ReadonlyMap<string, string>;

/** Parses the RRULE of an event with this start; throws an Error that says what is wrong. */
export function readRule(content: ContentLine, start: Moment): Rule {
  const parts = partsOf(content.text.slice(content.text.indexOf(':') + 1));
  const frequency = oneOf('FREQ', parts.get('FREQ'), FREQUENCIES);
  const rule: Rule = {
    line: content.line,
    frequency,
    interval: wholeNumber('INTERVAL', parts.get('INTERVAL') ?? '1', INTERVAL_MAX),
    count: parts.has('COUNT')
      ? wholeNumber('COUNT', parts.get('COUNT') ?? '', COUNT_MAX)
      : Number.POSITIVE_INFINITY,
    untilWall: untilOf(parts.get('UNTIL'), start),
    weekStart: WEEKDAYS.indexOf(oneOf('WKST', parts.get('WKST') ?? 'MO', WEEKDAYS)) + 1,
  };
  for (const [name, part] of Object.entries(NUMBER_PARTS)) {
    const text = parts.get(name);
    if (text === undefined) continue;
    if (part.not.includes(frequency))
      throw new Error(`RRULE's ${name} cannot be used with FREQ=${frequency}`);
    rule[part.field] = numbersOf(name, text, part);
  }
  const byDay = parts.get('BYDAY');
  if (byDay !== undefined) rule.weekdays = weekdaysOf(byDay, rule);
  if (rule.positions !== undefined && ![...parts.keys()].some((name) => /^BY(?!SETPOS)/.test(name))) {
    throw new Error("RRULE's BYSETPOS needs another part that starts with BY");
  }
  return completed(rule, start);
}

function partsOf(text: string): Parts {
  const parts = new Map<string, string>();
  for (const raw of text.toUpperCase().split(';')) {
    const part = raw.replace(/\s+/g, '');
    if (part === '' || NEEDLESS.test(part)) continue;
    const [, name, value] = /^([A-Z]+)=([^=]+)$/.exec(part) ?? [];
    if (name === undefined || value === undefined) {
      throw new Error(`RRULE has an invalid part: ${quoted(raw)}`);
    }
    if (NUMBER_PARTS[name] === undefined && !OTHER_PARTS.includes(name)) {
      throw new Error(`RRULE has the part ${quoted(part)}, which is not supported`);
    }
    if (parts.has(name)) throw new Error(`RRULE has ${name} twice`);
    parts.set(name, value);
  }
  if (!parts.has('FREQ')) throw new Error('RRULE does not have FREQ');
  return parts;
}

function oneOf<T extends string>(name: string, text: string | undefined, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === text);
  if (found === undefined) throw new Error(`RRULE's ${name} must be one of ${allowed.join(', ')}`);
  return found;
}

function wholeNumber(name: string, text: string, max: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= max) return value;
  throw new Error(`RRULE's ${name} must be a whole number from 1 to ${max}`);
}

function numbersOf(name: string, text: string, { min, max, isSigned }: NumberPart): number[] {
  const numbers = text.split(',').map((one) => {
    const value = (isSigned ? /^[+-]?\d+$/ : /^\d+$/).test(one) ? Number(one) : Number.NaN;
    if (Math.abs(value) >= min && Math.abs(value) <= max) return value;
    const range = isSigned ? `from ${min} to ${max} or from -${max} to -${min}` : `from ${min} to ${max}`;
    throw new Error(`RRULE's ${name} must be whole numbers ${range}`);
  });
  // Second 60 is a leap second, which clocks here skip.
  const shown = name === 'BYSECOND' ? numbers.map((second) => Math.min(second, 59)) : numbers;
  return [...new Set(shown)].sort((a, b) => a - b);
}

function weekdaysOf(text: string, { frequency, weeks }: Rule): Weekday[] {
  const isCounted = (frequency === 'MONTHLY' || frequency === 'YEARLY') && weeks === undefined;
  return text.split(',').map((one) => {
    const [, nth, name = ''] = /^([+-]?\d{1,2})?([A-Z]{2})$/.exec(one) ?? [];
    const day = WEEKDAYS.indexOf(name) + 1;
    const number = nth === undefined ? null : Number(nth);
    if (day === 0 || number === 0 || Math.abs(number ?? 0) > 53) {
      throw new Error(`RRULE's BYDAY must be weekdays such as MO, 1MO or -1MO`);
    }
    if (number === null || isCounted) return { day, nth: number };
    throw new Error(`RRULE's BYDAY may number weekdays, as in ${quoted(one)}, only with a month or a year`);
  });
}

// UNTIL is in UTC or a day, and is compared in the zone of the rule; a day is included completely.
function untilOf(text: string | undefined, start: Moment): number {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  const time = readTime(text);
  if (time === undefined) throw new Error(`RRULE's UNTIL is not a date or time: ${quoted(text)}`);
  const wall = time.kind === 'utc' ? start.zone.toWall(time.wall) : time.wall;
  const isDay = time.kind === 'date' || start.kind === 'date';
  return isDay ? startOfDay(wall) + DAY_MS - 1 : wall;
}

// Parts that are missing and not implied by others come from DTSTART.
function completed(rule: Rule, start: Moment): Rule {
  const { frequency, months, weeks, yearDays, monthDays, weekdays } = rule;
  const { month, day, dayOfWeek, hour, minute, second } = wallTime(start.wall);
  const rank = FREQUENCIES.indexOf(frequency);
  if (start.kind === 'date' && rank >= FREQUENCIES.indexOf('HOURLY')) {
    throw new Error(`RRULE's FREQ=${frequency} needs a DTSTART with a time of day`);
  }
  // A date has no hours: the RFC requires ignoring them.
  const given: Partial<Rule> = start.kind === 'date' ? {} : rule;
  const whole: Rule = {
    ...rule,
    hours: given.hours ?? (rank >= FREQUENCIES.indexOf('HOURLY') ? undefined : [hour]),
    minutes: given.minutes ?? (rank >= FREQUENCIES.indexOf('MINUTELY') ? undefined : [minute]),
    seconds: given.seconds ?? (frequency === 'SECONDLY' ? undefined : [second]),
  };
  if (yearDays !== undefined || monthDays !== undefined || weekdays !== undefined) return whole;
  const weekday = [{ day: dayOfWeek, nth: null }];
  if (frequency === 'WEEKLY' || weeks !== undefined) return { ...whole, weekdays: weekday };
  if (frequency === 'MONTHLY') return { ...whole, monthDays: [day] };
  return frequency === 'YEARLY' ? { ...whole, months: months ?? [month], monthDays: [day] } : whole;
}
