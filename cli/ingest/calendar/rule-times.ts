// Expands a recurrence rule (RFC 5545, section 3.3.10), period by period, within fixed limits.
import { DAY_MS } from '../../input/instant.ts';
import { formatCount } from '../../terminal/format.ts';
import { type FileBudget, INSTANCES_MAX, SERIES_WINDOW_MS, WINDOW_DAYS } from './limits.ts';
import type { Frequency, Rule } from './rule.ts';
import { startOfDay } from './values.ts';
import { wallTime } from './zones.ts';

const YEAR_MAX = 9_999;
// After this time the calendar repeats: a rule without an occurrence by then never has one.
const CALENDAR_CYCLE_MS = 146_097 * DAY_MS;
const TIME_UNITS_MS: Partial<Record<Frequency, number>> = {
  HOURLY: 3_600_000,
  MINUTELY: 60_000,
  SECONDLY: 1_000,
};

/** Thrown if a rule has no occurrences, or needs more steps than any calendar of meetings. */
export class UnusableRuleError extends Error {
  readonly rule: Rule | null;
  /** Whether the same rule may be usable with a slightly different start. */
  readonly isOfStart: boolean;

  constructor(message: string, rule: Rule | null = null, isOfStart = false) {
    super(message);
    this.name = 'UnusableRuleError';
    this.rule = rule;
    this.isOfStart = isOfStart;
  }
}

/** Wall times in order; `isWhole` means that there are no more. */
export interface Expansion {
  walls: number[];
  isWhole: boolean;
}

/** One year, month, week, … of the rule: every listed time of day on every listed day. */
interface Period {
  /** Lower bound of its times. */
  firstWall: number;
  days: readonly Temporal.PlainDate[];
  /** How many days were checked to find these. */
  looked: number;
  hours: readonly number[];
  minutes: readonly number[];
  seconds: readonly number[];
}

/**
 * The occurrences of a rule from its start up to `lastWall`. Includes times that the clock skips: such an event uses the
 * offset from before the change. COUNT counts the occurrences of the rule, like most programs; the RFC does not define it
 * if DTSTART is not one of them.
 * @throws UnusableRuleError
 */
export function expandRule(rule: Rule, startWall: number, lastWall: number, budget: FileBudget): Expansion {
  const steps = { count: 0, ...budget.steps };
  try {
    return expand(rule, startWall, lastWall, steps);
  } finally {
    budget.spendSteps(Math.min(steps.count, steps.max));
  }
}

// A step is a checked day, or a time of day on a matching one.
interface Steps {
  count: number;
  max: number;
  isOfFile: boolean;
}

function expand(rule: Rule, startWall: number, lastWall: number, steps: Steps): Expansion {
  const walls: number[] = [];
  const end = Math.min(lastWall, rule.untilWall);
  const isWhole = rule.untilWall <= lastWall;
  const unitMs = TIME_UNITS_MS[rule.frequency];
  const periods = unitMs === undefined ? dayPeriods(rule, startWall) : timePeriods(rule, startWall, unitMs);
  for (const period of periods) {
    if (period.firstWall > end && (walls.length > 0 || isWhole)) return { walls, isWhole };
    if (period.firstWall > startWall + CALENDAR_CYCLE_MS && walls.length === 0) break;
    steps.count += Math.max(1, period.looked, timesIn(period));
    if (steps.count > steps.max) throw tooManySteps(steps);
    for (const wall of selected(rule, timesOf(period))) {
      if (wall < startWall) continue;
      if (wall > end) return { walls, isWhole };
      walls.push(wall);
      if (wall - (walls.at(-1 - INSTANCES_MAX) ?? Number.NEGATIVE_INFINITY) <= SERIES_WINDOW_MS)
        throw tooDenseError();
      if (walls.length === rule.count) return { walls, isWhole: true };
    }
  }
  // Every twelfth month from April is never in June.
  if (walls.length === 0) throw new UnusableRuleError('RRULE has no occurrences', null, rule.interval > 1);
  return { walls, isWhole: true };
}

function tooManySteps({ max, isOfFile }: Steps): UnusableRuleError {
  const message = isOfFile
    ? 'RRULE needs too many steps after the earlier rules in this file; put the event into a separate file'
    : `RRULE needs more than ${formatCount(max)} steps; check whether it should recur so often`;
  return new UnusableRuleError(message);
}

/** The error for a rule with too many meetings. */
export function tooDenseError(): UnusableRuleError {
  const message = `the series has more than ${formatCount(INSTANCES_MAX)} meetings in ${WINDOW_DAYS} days`;
  return new UnusableRuleError(message);
}

function timesIn({ days, hours, minutes, seconds }: Period): number {
  return days.length * hours.length * minutes.length * seconds.length;
}

function timesOf({ days, hours, minutes, seconds }: Period): number[] {
  return days.flatMap((day) => {
    const midnight = wallOf(day);
    return hours.flatMap((hour) =>
      minutes.flatMap((minute) =>
        seconds.map((second) => midnight + ((hour * 60 + minute) * 60 + second) * 1_000),
      ),
    );
  });
}

function selected({ positions }: Rule, walls: readonly number[]): readonly number[] {
  if (positions === undefined) return walls;
  const chosen = new Set(
    positions.flatMap((position) => walls.at(position > 0 ? position - 1 : position) ?? []),
  );
  return [...chosen].sort((a, b) => a - b);
}

function* dayPeriods(rule: Rule, startWall: number): Generator<Period> {
  const { hours = [], minutes = [], seconds = [] } = rule;
  for (const [first, days] of daysByPeriod(rule, wallTime(startWall).toPlainDate())) {
    const given = days.filter((day) => matchesRule(rule, day));
    yield { firstWall: wallOf(first), days: given, looked: days.length, hours, minutes, seconds };
  }
}

const MONTHS = Array.from({ length: 12 }, (_, index) => index + 1);

type PeriodDays = [first: Temporal.PlainDate, days: readonly Temporal.PlainDate[]];

function* daysByPeriod(rule: Rule, start: Temporal.PlainDate): Generator<PeriodDays> {
  const { frequency, interval, months = MONTHS, weeks, weekStart } = rule;
  const weekOf = (day: Temporal.PlainDate) => day.subtract({ days: (day.dayOfWeek - weekStart + 7) % 7 });
  if (frequency === 'YEARLY') {
    // Weeks belong to the year in which most of their days lie: the first one has at least four in it.
    const firstWeek = (year: number) => weekOf(new Temporal.PlainDate(year, 1, 4));
    const { year } = weeks === undefined ? start : weekOf(start).add({ days: 3 });
    for (let at = year; at <= YEAR_MAX; at += interval) {
      if (weeks === undefined) {
        const firstOf = (month: number) => new Temporal.PlainDate(at, month, 1);
        yield [firstOf(1), months.flatMap((month) => daysOfMonth(firstOf(month)))];
      } else {
        const first = firstWeek(at);
        const count = first.until(firstWeek(at + 1)).days / 7;
        const listed = daysFrom(first, count, 7).filter((_, index) => isListed(weeks, index + 1, count));
        yield [first, listed.flatMap((day) => daysFrom(day, 7))];
      }
    }
    return;
  }
  const unit = frequency === 'MONTHLY' ? 'months' : frequency === 'WEEKLY' ? 'weeks' : 'days';
  const first = { months: start.with({ day: 1 }), weeks: weekOf(start), days: start }[unit];
  for (let at = first; at.year <= YEAR_MAX; at = at.add({ [unit]: interval })) {
    yield [at, unit === 'months' ? daysOfMonth(at) : unit === 'weeks' ? daysFrom(at, 7) : [at]];
  }
}

// Ten times as fast as adding days.
function daysOfMonth({ year, month, daysInMonth }: Temporal.PlainDate): Temporal.PlainDate[] {
  return Array.from({ length: daysInMonth }, (_, index) => new Temporal.PlainDate(year, month, index + 1));
}

/** A number of days from the first on, one every `step` days. */
function daysFrom(first: Temporal.PlainDate, count: number, step = 1): Temporal.PlainDate[] {
  return Array.from({ length: count }, (_, index) => first.add({ days: index * step }));
}

// Whether a day matches every part of the rule.
function matchesRule(rule: Rule, day: Temporal.PlainDate): boolean {
  return (
    isListed(rule.months, day.month) &&
    isListed(rule.monthDays, day.day, day.daysInMonth) &&
    isListed(rule.yearDays, day.dayOfYear, day.daysInYear) &&
    isWeekdayGiven(rule, day)
  );
}

function isListed(list: readonly number[] | undefined, value: number, last = Number.NaN): boolean {
  return list === undefined || list.includes(value) || list.includes(value - last - 1);
}

function isWeekdayGiven({ frequency, months, weekdays }: Rule, day: Temporal.PlainDate): boolean {
  if (weekdays === undefined) return true;
  const isOfMonth = frequency === 'MONTHLY' || months !== undefined;
  const [place, last] = isOfMonth ? [day.day, day.daysInMonth] : [day.dayOfYear, day.daysInYear];
  return weekdays.some(
    (one) =>
      one.day === day.dayOfWeek &&
      (one.nth === null ||
        one.nth === Math.ceil(place / 7) ||
        -one.nth === Math.ceil((last - place + 1) / 7)),
  );
}

// Hours, minutes or seconds: days and hours that the rule does not include are skipped at once.
function* timePeriods(rule: Rule, startWall: number, unitMs: number): Generator<Period> {
  const { frequency, interval } = rule;
  const stepMs = unitMs * interval;
  let midnight = Number.NaN;
  let day = wallTime(startWall).toPlainDate();
  let isDay = false;
  for (let at = Math.floor(startWall / unitMs) * unitMs; ; ) {
    // Each day is checked once, however many times it has.
    if (startOfDay(at) !== midnight) {
      midnight = startOfDay(at);
      day = wallTime(at).toPlainDate();
      if (day.year > YEAR_MAX) return;
      isDay = matchesRule(rule, day);
    }
    const second = (at - midnight) / 1_000;
    const minute = Math.floor(second / 60);
    const hours = within(rule.hours, Math.floor(minute / 60));
    const minutes = frequency === 'HOURLY' ? (rule.minutes ?? []) : within(rule.minutes, minute % 60);
    const seconds = frequency === 'SECONDLY' ? within(rule.seconds, second % 60) : (rule.seconds ?? []);
    yield { firstWall: at, days: isDay ? [day] : [], looked: 1, hours, minutes, seconds };
    const emptyMs = !isDay ? DAY_MS : hours.length === 0 ? 3_600_000 : minutes.length === 0 ? 60_000 : 1;
    const next = (Math.floor(at / emptyMs) + 1) * emptyMs;
    at += Math.ceil((next - at) / stepMs) * stepMs;
  }
}

function within(list: readonly number[] | undefined, value: number): readonly number[] {
  return list === undefined || list.includes(value) ? [value] : [];
}

// Much faster than with a ZonedDateTime.
function wallOf({ year, month, day }: Temporal.PlainDate): number {
  return new Date(0).setUTCFullYear(year, month - 1, day);
}
