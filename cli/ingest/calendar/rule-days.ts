// Decides which days a recurrence rule includes: those that match every part of it.
import type { Rule } from './rule.ts';

/** Whether the rule includes a day. */
export function matchesRule(rule: Rule, day: Temporal.PlainDate): boolean {
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
