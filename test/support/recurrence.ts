// Recurrence rules by brute force: every day is asked whether it meets each part, as the table of RFC 5545 has it.

const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];
const DAY_MS = 86_400_000;

type Numbers = number[] | undefined;

interface Parts {
  frequency: string;
  interval: number;
  count: number;
  weekStart: number;
  list: (name: string) => Numbers;
  byDay: { weekday: number; nth: number }[] | undefined;
}

function read(rule: string): Parts {
  const parts = new Map(rule.split(';').map((part) => part.split('=') as [string, string]));
  // Read once: each of them is asked for on every day.
  const numbers = new Map([...parts].map(([name, text]) => [name, text.split(',').map(Number)]));
  const list = (name: string): Numbers => numbers.get(name);
  return {
    frequency: parts.get('FREQ') ?? '',
    interval: Number(parts.get('INTERVAL') ?? 1),
    count: Number(parts.get('COUNT') ?? Number.POSITIVE_INFINITY),
    weekStart: WEEKDAYS.indexOf(parts.get('WKST') ?? 'MO') + 1,
    list,
    byDay: parts
      .get('BYDAY')
      ?.split(',')
      .map((one) => ({ weekday: WEEKDAYS.indexOf(one.slice(-2)) + 1, nth: Number(one.slice(0, -2) || 0) })),
  };
}

/** A day and what its calendar tells of it, asked once for all rules. */
interface Day {
  midnight: number;
  year: number;
  month: number;
  day: number;
  dayOfWeek: number;
  dayOfYear: number;
  daysInMonth: number;
  daysInYear: number;
}

const days = new Map<number, Day>();

/** The day, in UTC, that begins so many days after 1 January 1970. */
function dayAt(number: number): Day {
  let known = days.get(number);
  if (known === undefined) {
    const midnight = number * DAY_MS;
    const date = Temporal.Instant.fromEpochMilliseconds(midnight).toZonedDateTimeISO('UTC').toPlainDate();
    const { year, month, day, dayOfWeek, dayOfYear, daysInMonth, daysInYear } = date;
    known = { midnight, year, month, day, dayOfWeek, dayOfYear, daysInMonth, daysInYear };
    days.set(number, known);
  }
  return known;
}

// Listed itself or counted from the end; a list that is not given lists everything.
function lists(numbers: Numbers, value: number, total: number): boolean {
  return numbers === undefined || numbers.includes(value) || numbers.includes(value - total - 1);
}

function weekOf(day: Day, weekStart: number): { year: number; week: number; weeks: number } {
  // The week belongs to the year of its fourth day.
  const fourth = dayAt(day.midnight / DAY_MS - ((day.dayOfWeek - weekStart + 7) % 7) + 3);
  const week = Math.ceil(fourth.dayOfYear / 7);
  return { year: fourth.year, week, weeks: week + Math.floor((fourth.daysInYear - fourth.dayOfYear) / 7) };
}

function meets(parts: Parts, start: Day, day: Day): boolean {
  const { frequency, list, byDay, weekStart } = parts;
  const [months, weeks, yearDays, monthDays] = ['BYMONTH', 'BYWEEKNO', 'BYYEARDAY', 'BYMONTHDAY'].map(list);
  const numbered = weeks === undefined ? undefined : weekOf(day, weekStart);
  const [place, total] =
    frequency === 'MONTHLY' || months !== undefined
      ? [day.day, day.daysInMonth]
      : [day.dayOfYear, day.daysInYear];
  const isListed =
    lists(months, day.month, Number.NaN) &&
    (numbered === undefined || lists(weeks, numbered.week, numbered.weeks)) &&
    lists(yearDays, day.dayOfYear, day.daysInYear) &&
    lists(monthDays, day.day, day.daysInMonth) &&
    (byDay === undefined ||
      byDay.some(
        ({ weekday, nth }) =>
          weekday === day.dayOfWeek &&
          (nth === 0 || nth === Math.ceil(place / 7) || -nth === Math.ceil((total - place + 1) / 7)),
      ));
  if (!isListed) return false;
  if (yearDays !== undefined || monthDays !== undefined || byDay !== undefined) return true;
  // No part says which day: the one of DTSTART.
  if (frequency === 'WEEKLY' || weeks !== undefined) return day.dayOfWeek === start.dayOfWeek;
  if (frequency === 'MONTHLY') return day.day === start.day;
  return (
    frequency !== 'YEARLY' || (day.day === start.day && (months !== undefined || day.month === start.month))
  );
}

/** The wall times that the RRULE of an event that starts then gives, in order, as far as `lastWall`. */
export function recurrences(rule: string, startWall: number, lastWall: number): number[] {
  const parts = read(rule);
  const { frequency, interval, list, weekStart } = parts;
  const start = Temporal.Instant.fromEpochMilliseconds(startWall).toZonedDateTimeISO('UTC');
  const rank = ['SECONDLY', 'MINUTELY', 'HOURLY'].indexOf(frequency);
  const times = (name: string, size: number, own: number, isEach: boolean): number[] =>
    (list(name) ?? (isEach ? [...Array(size).keys()] : [own])).toSorted((a, b) => a - b);
  const hours = times('BYHOUR', 24, start.hour, rank >= 0);
  const minutes = times('BYMINUTE', 60, start.minute, rank === 0 || rank === 1);
  const seconds = times('BYSECOND', 60, start.second, rank === 0);

  const unitMs =
    { WEEKLY: 7 * DAY_MS, DAILY: DAY_MS, HOURLY: 3_600_000, MINUTELY: 60_000 }[frequency] ?? 1_000;
  // 1 January 1970 was a Thursday.
  const shiftMs = frequency === 'WEEKLY' ? ((4 - weekStart + 7) % 7) * DAY_MS : 0;
  const periodOf = (day: Day, wall: number): number => {
    if (frequency === 'YEARLY')
      return list('BYWEEKNO') === undefined ? day.year : weekOf(day, weekStart).year;
    if (frequency === 'MONTHLY') return day.year * 12 + day.month;
    return Math.floor((wall + shiftMs) / unitMs);
  };
  const startNumber = Math.floor(startWall / DAY_MS);
  const startDay = dayAt(startNumber);
  const firstPeriod = periodOf(startDay, startWall);
  const periods = new Map<number, number[]>();
  // The first period may have begun up to a year before, the last one may end as long after.
  const margin = rank >= 0 ? 0 : frequency === 'YEARLY' ? 372 : 31;
  const lastNumber = startNumber + Math.ceil((lastWall - startWall) / DAY_MS) + margin;
  for (let number = startNumber - margin; number <= lastNumber; number++) {
    const day = dayAt(number);
    if (!meets(parts, startDay, day)) continue;
    const { midnight } = day;
    for (const hour of hours)
      for (const minute of minutes)
        for (const second of seconds) {
          const wall = midnight + ((hour * 60 + minute) * 60 + second) * 1_000;
          const period = periodOf(day, wall);
          if (period < firstPeriod || (period - firstPeriod) % interval !== 0) continue;
          const walls = periods.get(period);
          if (walls === undefined) periods.set(period, [wall]);
          else walls.push(wall);
        }
  }
  const positions = list('BYSETPOS');
  const given = [...periods.values()].flatMap((walls) =>
    walls.filter((_, index) => positions === undefined || lists(positions, index + 1, walls.length)),
  );
  const all = given.filter((wall) => wall >= startWall);
  return all.slice(0, parts.count).filter((wall) => wall <= lastWall);
}
