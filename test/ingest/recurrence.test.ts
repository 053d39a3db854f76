// What recurrence rules give: the examples of RFC 5545, and thousands of rules checked against a brute-force reading of it.
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { FileBudget } from '../../cli/ingest/calendar/limits.ts';
import { readRule } from '../../cli/ingest/calendar/rule.ts';
import { expandRule, UnusableRuleError } from '../../cli/ingest/calendar/rule-times.ts';
import { type Moment, momentAt } from '../../cli/ingest/calendar/values.ts';
import { findZone, utcZone } from '../../cli/ingest/calendar/zones.ts';
import { rfcExamples } from '../fixtures/ingest/rfc5545.ts';
import { recurrences } from '../support/recurrence.ts';

const DAY_MS = 86_400_000;
const wall = (text: string): number => Date.parse(`${text}Z`);
const shown = (ms: number): string => new Date(ms).toISOString().slice(0, 16);

function expand(rule: string, start: Moment, lastWall: number) {
  const content = { line: 1, name: 'RRULE', text: `RRULE:${rule}` };
  return expandRule(readRule(content, start), start.wall, lastWall, new FileBudget());
}

/** The first times of a rule, on the clock of UTC. */
function times(rule: string, start: string, count: number, kind: Moment['kind'] = 'zoned'): string[] {
  const moment = momentAt(kind, wall(start), utcZone);
  return expand(rule, moment, moment.wall + 40 * 366 * DAY_MS)
    .walls.slice(0, count)
    .map(shown);
}

describe('the examples of RFC 5545', () => {
  const newYork = findZone('America/New_York') ?? utcZone;
  const cases = rfcExamples().flatMap((example) => example.rules.map((rule) => [rule, example] as const));

  test.each(cases)('%s', (rule, example) => {
    const { walls: expected, isEndless } = example;
    const start = momentAt('zoned', wall(example.start), newYork);
    const last = wall(expected.at(-1) ?? '');
    const { walls, isWhole } = expand(rule, start, isEndless ? last : last + 1_000 * DAY_MS);
    expect(walls.map(shown)).toEqual(expected);
    expect(isWhole).toBe(!isEndless);
  });

  test('are all there', () => {
    expect(cases.length).toBe(42);
  });
});

test.each([
  ['FREQ=YEARLY', '2024-02-29T09:00', ['2024-02-29T09:00', '2028-02-29T09:00', '2032-02-29T09:00']],
  ['FREQ=MONTHLY', '2026-01-31T09:00', ['2026-01-31T09:00', '2026-03-31T09:00', '2026-05-31T09:00']],
  [
    'FREQ=YEARLY;BYMONTHDAY=15',
    '2026-03-15T09:00',
    ['2026-03-15T09:00', '2026-04-15T09:00', '2026-05-15T09:00'],
  ],
  [
    'FREQ=DAILY;BYMONTHDAY=-1',
    '2026-01-31T09:00',
    ['2026-01-31T09:00', '2026-02-28T09:00', '2026-03-31T09:00'],
  ],
  [
    'FREQ=MONTHLY;BYDAY=1MO;BYHOUR=9,17',
    '2026-03-02T09:00',
    ['2026-03-02T09:00', '2026-03-02T17:00', '2026-04-06T09:00', '2026-04-06T17:00'],
  ],
  ['FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=-1', '2026-03-06T09:00', ['2026-03-06T09:00', '2026-03-13T09:00']],
  ['FREQ=YEARLY;BYDAY=MO;BYSETPOS=-1', '2026-12-28T09:00', ['2026-12-28T09:00', '2027-12-27T09:00']],
  ['FREQ=DAILY;BYHOUR=9,12;BYSETPOS=2', '2026-03-02T12:00', ['2026-03-02T12:00', '2026-03-03T12:00']],
  // Week 53 of 2026 reaches into 2027; every other year of weeks, not of days.
  [
    'FREQ=YEARLY;INTERVAL=6;BYWEEKNO=53;BYDAY=FR',
    '2027-01-01T09:00',
    ['2027-01-01T09:00', '2032-12-31T09:00'],
  ],
  // DTSTART is no Friday the 13th, and so is not counted.
  [
    'FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13;COUNT=2',
    '2026-03-02T09:00',
    ['2026-03-13T09:00', '2026-11-13T09:00'],
  ],
  ['freq=weekly; byday=mo, we;', '2026-03-02T09:00', ['2026-03-02T09:00', '2026-03-04T09:00']],
  [
    'FREQ=DAILY;X-PART=1;RSCALE=GREGORIAN;SKIP=OMIT',
    '2026-03-02T09:00',
    ['2026-03-02T09:00', '2026-03-03T09:00'],
  ],
])('%s from %s', (rule, start, expected) => {
  const count = rule.includes('COUNT') ? 9 : expected.length;
  expect(times(rule, start, count)).toEqual(expected);
});

test('a day has no hours: those of its rule are ignored', () => {
  const rule = 'FREQ=DAILY;BYHOUR=9,17;BYMINUTE=30';
  expect(times(rule, '2026-03-02T00:00', 2, 'date')).toEqual(['2026-03-02T00:00', '2026-03-03T00:00']);
});

describe('is refused, with the reason:', () => {
  test.each([
    ['FREQ=FORTNIGHTLY', "RRULE's FREQ must be one of YEARLY, MONTHLY, WEEKLY"],
    ['FREQ=DAILY;FREQ=DAILY', 'RRULE has FREQ twice'],
    ['FREQ=DAILY;BYEASTER=1', 'RRULE has the part "BYEASTER=1", which is not supported'],
    ['FREQ=YEARLY;RSCALE=HEBREW', 'RRULE has the part "RSCALE=HEBREW", which is not supported'],
    ['FREQ=DAILY;WKST=XX', "RRULE's WKST must be one of MO, TU"],
    ['FREQ=DAILY;INTERVAL=0', "RRULE's INTERVAL must be a whole number from 1 to 100000"],
    ['FREQ=YEARLY;BYMONTH=13', "RRULE's BYMONTH must be whole numbers from 1 to 12"],
    ['FREQ=YEARLY;BYMONTH=-1', "RRULE's BYMONTH must be whole numbers from 1 to 12"],
    ['FREQ=MONTHLY;BYMONTHDAY=0', "RRULE's BYMONTHDAY must be whole numbers from 1 to 31 or from -31 to -1"],
    ['FREQ=DAILY;BYHOUR=24', "RRULE's BYHOUR must be whole numbers from 0 to 23"],
    ['FREQ=MONTHLY;BYDAY=0MO', "RRULE's BYDAY must be weekdays such as MO, 1MO or -1MO"],
    ['FREQ=WEEKLY;BYDAY=1MO', 'RRULE\'s BYDAY may number weekdays, as in "1MO", only with a month or a year'],
    ['FREQ=YEARLY;BYWEEKNO=20;BYDAY=1MO', "RRULE's BYDAY may number weekdays"],
    ['FREQ=MONTHLY;BYWEEKNO=20', "RRULE's BYWEEKNO cannot be used with FREQ=MONTHLY"],
    ['FREQ=DAILY;BYYEARDAY=1', "RRULE's BYYEARDAY cannot be used with FREQ=DAILY"],
    ['FREQ=WEEKLY;BYMONTHDAY=1', "RRULE's BYMONTHDAY cannot be used with FREQ=WEEKLY"],
    ['FREQ=DAILY;BYSETPOS=1', "RRULE's BYSETPOS needs another part that starts with BY"],
    ['FREQ=DAILY;UNTIL=20260230', 'RRULE\'s UNTIL is not a date or time: "20260230"'],
  ])('%s', (rule, reason) => {
    expect(() => times(rule, '2026-03-02T09:00', 1)).toThrow(reason);
  });

  test('a rule of hours for a whole day', () => {
    expect(() => times('FREQ=HOURLY', '2026-03-02T00:00', 1, 'date')).toThrow(
      'needs a DTSTART with a time of day',
    );
  });

  test.each([
    'FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=31;BYDAY=MO',
    'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=DAILY;INTERVAL=100000;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=YEARLY;INTERVAL=100000;BYMONTH=4;BYMONTHDAY=31',
    'FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=YEARLY;BYWEEKNO=10;BYMONTH=12',
    'FREQ=WEEKLY;BYDAY=MO;BYSETPOS=2',
    'FREQ=YEARLY;BYYEARDAY=366;BYMONTH=1;COUNT=5',
  ])('%s gives no date at all', (rule) => {
    expect(() => times(rule, '2026-03-02T09:00', 1)).toThrow(
      new UnusableRuleError('RRULE has no occurrences'),
    );
  });

  test('more meetings than anybody has, as soon as that is seen', () => {
    const told = 'the series has more than 10,000 meetings in 400 days';
    expect(() => times('FREQ=SECONDLY', '2026-03-02T09:00', 1)).toThrow(told);
  });

  test.each([
    'FREQ=SECONDLY;BYSECOND=1;BYSETPOS=2',
    'FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR=0,1,2,3,4,5,6,7,8,9;BYMINUTE=0,1,2,3,4,5,6,7,8,9;BYSECOND=0,1,2,3,4,5,6',
  ])('%s takes too many steps', (rule) => {
    expect(() => times(rule, '2026-03-02T09:00', 1)).toThrow('RRULE needs more than 200,000 steps');
  });
});

describe('against brute force', () => {
  const weekdays = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];
  const list = <T>(one: fc.Arbitrary<T>, maxLength: number) =>
    fc.uniqueArray(one, { minLength: 1, maxLength }).map((values) => values.join(','));
  const signed = (max: number) => fc.oneof(fc.integer({ min: 1, max }), fc.integer({ min: -max, max: -1 }));
  const maybe = (name: string, value: fc.Arbitrary<string>) =>
    fc.oneof(
      { weight: 3, arbitrary: fc.constant('') },
      { weight: 1, arbitrary: value.map((text) => `;${name}=${text}`) },
    );
  const numbers = (max: number) => list(fc.integer({ min: 0, max }), 3);
  const byDay = (nth: number) =>
    list(
      fc
        .tuple(
          nth === 0 ? fc.constant('') : fc.oneof(fc.constant(''), signed(nth).map(String)),
          fc.constantFrom(...weekdays),
        )
        .map((parts) => parts.join('')),
      3,
    );
  /** Rules of a frequency, of what the RFC allows with it. */
  function rules(frequency: string): fc.Arbitrary<string> {
    const isYear = frequency === 'YEARLY';
    const isShort = /HOURLY|MINUTELY|SECONDLY/.test(frequency);
    const none = fc.constant('');
    const weeks = isYear
      ? maybe('BYWEEKNO', list(fc.oneof(signed(53), fc.constantFrom(1, 52, 53, -1)), 3))
      : none;
    const nth = isYear ? 53 : frequency === 'MONTHLY' ? 5 : 0;
    return fc
      .tuple(
        maybe('INTERVAL', fc.integer({ min: 2, max: 5 }).map(String)),
        maybe('COUNT', fc.integer({ min: 1, max: 20 }).map(String)),
        maybe('BYMONTH', list(fc.integer({ min: 1, max: 12 }), 3)),
        weeks,
        isYear || isShort
          ? maybe('BYYEARDAY', list(fc.oneof(signed(366), fc.constantFrom(1, 60, -1)), 4))
          : none,
        frequency === 'WEEKLY'
          ? none
          : maybe('BYMONTHDAY', list(fc.oneof(signed(31), fc.constantFrom(29, -1)), 4)),
        maybe('WKST', fc.constantFrom(...weekdays)),
        maybe('BYHOUR', numbers(23)),
        maybe('BYMINUTE', numbers(59)),
      )
      .chain((parts) => {
        const weekday = maybe('BYDAY', byDay(parts[3] === '' ? nth : 0));
        return weekday.map((day) => `FREQ=${frequency}${parts.join('')}${day}`);
      })
      .chain((rule) => {
        const places = list(fc.oneof(signed(10), fc.constantFrom(1, -1)), 3);
        return /;BY/.test(rule) ? maybe('BYSETPOS', places).map((part) => rule + part) : fc.constant(rule);
      });
  }
  const starts = fc
    .integer({ min: wall('2018-01-01T00:00') / 900_000, max: wall('2028-12-31T00:00') / 900_000 })
    .map((quarter) => quarter * 900_000);

  test.each([
    ['YEARLY', 1_000, 4 * 366],
    ['MONTHLY', 600, 2 * 366],
    ['WEEKLY', 400, 2 * 366],
    ['DAILY', 400, 366],
    ['HOURLY', 100, 6],
    ['MINUTELY', 40, 1],
    ['SECONDLY', 10, 0.02],
  ])(
    '%s: %i rules',
    (frequency, numRuns, days) => {
      const property = fc.property(rules(frequency), starts, (rule, start) => {
        const lastWall = start + days * DAY_MS;
        const expected = recurrences(rule, start, lastWall);
        let walls: number[] = [];
        try {
          ({ walls } = expand(rule, momentAt('zoned', start, utcZone), lastWall));
        } catch (error) {
          if (!(error instanceof UnusableRuleError)) throw error;
        }
        expect(walls.map(shown)).toEqual(expected.map(shown));
      });
      fc.assert(property, { numRuns });
    },
    300_000,
  );
});
