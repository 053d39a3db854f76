// Expands a recurrence rule (RFC 5545, section 3.3.10), period by period, within fixed limits.
import { DAY_MS } from '../../input/instant.ts';
import { formatCount } from '../../terminal/format.ts';
import { type FileBudget, INSTANCES_MAX, SERIES_WINDOW_MS, WINDOW_DAYS } from './limits.ts';
import type { Frequency, Rule } from './rule.ts';
import { matchesRule } from './rule-days.ts';
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

  constructor(message: string, rule: Rule | null = null) {
    super(message);
    this.name = 'UnusableRuleError';
    this.rule = rule;
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
  for (const period of periodsOf(rule, startWall)) {
    if (period.firstWall > end && (walls.length > 0 || isWhole)) return { walls, isWhole };
    if (period.firstWall > startWall + CALENDAR_CYCLE_MS && walls.length === 0) break;
    steps.count += Math.max(1, period.looked, timesIn(period));
    if (steps.count > steps.max) throw tooManySteps(steps);
    const times = timesOf(period);
    for (const wall of selected(rule, times)) {
      if (wall < startWall) continue;
      if (wall > end) return { walls, isWhole };
      walls.push(wall);
      if (wall - (walls.at(-1 - INSTANCES_MAX) ?? Number.NEGATIVE_INFINITY) <= SERIES_WINDOW_MS)
        throw tooDenseError();
      if (walls.length === rule.count) return { walls, isWhole: true };
    }
  }
  if (walls.length === 0) throw new UnusableRuleError('RRULE has no occurrences');
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

function periodsOf(rule: Rule, startWall: number): Generator<Period> {
  const unitMs = TIME_UNITS_MS[rule.frequency];
  return unitMs === undefined ? dayPeriods(rule, startWall) : timePeriods(rule, startWall, unitMs);
}

function* dayPeriods(rule: Rule, startWall: number): Generator<Period> {
  const { hours = [], minutes = [], seconds = [] } = rule;
  const start = wallTime(startWall).toPlainDate();
  for (const [first, days] of daysByPeriod(rule, start)) {
    const given = days.filter((day) => matchesRule(rule, day));
    yield { firstWall: wallOf(first), days: given, looked: days.length, hours, minutes, seconds };
  }
}

type PeriodDays = [first: Temporal.PlainDate, days: readonly Temporal.PlainDate[]];

function* daysByPeriod(rule: Rule, start: Temporal.PlainDate): Generator<PeriodDays> {
  const { frequency, interval, months, weeks, weekStart } = rule;
  if (frequency === 'YEARLY') {
    // Weeks belong to the year in which most of their days lie.
    const { year } = weeks === undefined ? start : startOfWeek(start, weekStart).add({ days: 3 });
    for (let at = year; at <= YEAR_MAX; at += interval) {
      if (weeks !== undefined) yield [startOfWeekYear(at, weekStart), daysOfWeeks(weeks, at, weekStart)];
      else
        yield [
          new Temporal.PlainDate(at, 1, 1),
          (months ?? MONTHS).flatMap((month) => daysOfMonth(at, month)),
        ];
    }
    return;
  }
  const first = firstOfPeriod(frequency, start, weekStart);
  const unit = frequency === 'MONTHLY' ? 'months' : frequency === 'WEEKLY' ? 'weeks' : 'days';
  for (let at = first; at.year <= YEAR_MAX; at = at.add({ [unit]: interval })) {
    if (frequency === 'MONTHLY') yield [at, daysOfMonth(at.year, at.month)];
    else yield [at, frequency === 'WEEKLY' ? daysOfWeek(at) : [at]];
  }
}

const MONTHS = Array.from({ length: 12 }, (_, index) => index + 1);

function firstOfPeriod(
  frequency: Frequency,
  start: Temporal.PlainDate,
  weekStart: number,
): Temporal.PlainDate {
  if (frequency === 'MONTHLY') return start.with({ day: 1 });
  return frequency === 'WEEKLY' ? startOfWeek(start, weekStart) : start;
}

function daysOfMonth(year: number, month: number): Temporal.PlainDate[] {
  const { daysInMonth } = new Temporal.PlainDate(year, month, 1);
  return Array.from({ length: daysInMonth }, (_, index) => new Temporal.PlainDate(year, month, index + 1));
}

function daysOfWeek(first: Temporal.PlainDate): Temporal.PlainDate[] {
  return Array.from({ length: 7 }, (_, days) => first.add({ days }));
}

function startOfWeek(day: Temporal.PlainDate, weekStart: number): Temporal.PlainDate {
  return day.subtract({ days: (day.dayOfWeek - weekStart + 7) % 7 });
}

// Week 1 is the first with at least four days in the year.
function startOfWeekYear(year: number, weekStart: number): Temporal.PlainDate {
  return startOfWeek(new Temporal.PlainDate(year, 1, 4), weekStart);
}

function daysOfWeeks(weeks: readonly number[], year: number, weekStart: number): Temporal.PlainDate[] {
  const first = startOfWeekYear(year, weekStart);
  const count = first.until(startOfWeekYear(year + 1, weekStart)).days / 7;
  const numbers = new Set(weeks.map((week) => (week < 0 ? count + week + 1 : week)));
  return [...numbers]
    .filter((week) => week >= 1 && week <= count)
    .sort((a, b) => a - b)
    .flatMap((week) => daysOfWeek(first.add({ weeks: week - 1 })));
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
