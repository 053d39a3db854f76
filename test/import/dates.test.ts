// Reading dates: every spelling and order, and digits that may count several things.
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Evidence } from '../../cli/import/plan/column-evidence.ts';
import type { DateFormat } from '../../cli/import/plan/date-counts.ts';
import { decideDates, readDay, readInstant } from '../../cli/import/plan/dates.ts';

describe('dates', () => {
  const none = { format: null, orders: new Map() };
  const evidenceOf = (values: Record<string, string[]>) => {
    const found = new Evidence();
    for (const [header, list] of Object.entries(values)) for (const value of list) found.take(header, value);
    return found;
  };
  const decide = (values: Record<string, string[]>, format: DateFormat | null = null, isStream = false) => {
    const { rules, doubts } = decideDates(evidenceOf(values), Object.keys(values), format, isStream);
    return {
      orders: [...rules.orders],
      doubts: doubts.map(({ message }) => message).join('\n'),
      all: doubts,
    };
  };

  test('one unambiguous date decides its column, and columns that do not tell', () => {
    expect(decide({ a: ['3/1/2017', '12/31/2016'], b: ['1/2/2017'] }).orders).toEqual([
      ['a', 'mdy'],
      ['b', 'mdy'],
    ]);
    expect(decide({ a: ['31/12/2016'] }).orders).toEqual([['a', 'dmy']]);
  });

  test.each([
    [{ a: ['1/2/2017'] }],
    [{ a: ['31/1/2017', '1/31/2017'] }],
    [{ a: ['31/1/2017'], b: ['1/31/2017'], c: ['1/2/2017'] }],
  ])('what does not tell is refused: %j', (values) => {
    expect(decide(values).doubts).toContain('are ambiguous (month/day/year or day/month/year)');
  });

  test('from a stream slashed dates need --date-format', () => {
    const values = { a: ['12/31/2016'] };
    expect(decide(values, null, true).all).toEqual([
      {
        message:
          'The dates in "a" (such as 12/31/2016) seem to have the month first, but standard input is read only once.',
        formats: ['mdy', 'dmy'],
      },
    ]);
    expect(decide({ a: ['13/4/2026', '1/2/2026'] }, null, true).all[0]?.formats).toEqual(['dmy', 'mdy']);
    expect(decide({ a: ['1/2/2026'] }, null, true).doubts).toContain('are ambiguous');
    expect(decide(values, 'mdy', true)).toMatchObject({ orders: [['a', 'mdy']], doubts: '' });
  });

  test('where --date-format says what digits count, slashed dates are still decided by what they tell', () => {
    expect(decide({ a: ['46082', '12/31/2016'] }, 'excel')).toMatchObject({
      orders: [['a', 'mdy']],
      doubts: '',
    });
  });

  test.each([
    ['46082', ['excel', 'unix-s', 'unix-ms'], "Excel's days (2026-03-01), Unix seconds (1970-01-01)"],
    ['1767225600', ['unix-s', 'unix-ms'], 'Unix seconds (2026-01-01) or Unix milliseconds (1970-01-21)'],
    ['20260301', ['iso', 'unix-s', 'unix-ms'], 'the day 2026-03-01, Unix seconds (1970-08-23)'],
    ['0', ['excel', 'unix-s', 'unix-ms'], 'Unix milliseconds (1970-01-01)'],
  ])('%s may count several things: %p', (digits, formats, readings) => {
    const { doubts, all } = decide({ a: ['2026-01-01', digits] });
    expect(doubts).toContain(`The digits in "a" (such as ${digits}) are ambiguous: ${digits} may be`);
    expect(doubts).toContain(readings);
    expect(all[0]?.formats).toEqual(formats as DateFormat[]);
    expect(() => readInstant(digits, none, 'a')).toThrow('use --date-format to decide');
  });

  test('milliseconds from 1973 on count nothing else', () => {
    expect(decide({ a: ['1488326400000', '-100000000000'] }).doubts).toBe('');
  });

  test.each<[DateFormat, string, number]>([
    ['excel', '46082', Date.UTC(2026, 2, 1)],
    ['excel', '46082.75', Date.UTC(2026, 2, 1, 18)],
    ['excel', '61', Date.UTC(1900, 2, 1)],
    ['excel', '59', Date.UTC(1900, 1, 28)],
    ['excel', '1', Date.UTC(1900, 0, 1)],
    ['unix-s', '1767225600', Date.UTC(2026, 0, 1)],
    ['unix-s', '-1', -1000],
    ['unix-ms', '46082', 46082],
    ['unix-ms', '20170301', 20170301],
  ])('--date-format %s takes %s', (format, text, ms) => {
    expect(readInstant(text, { format, orders: new Map() }, 'a')).toBe(ms);
  });

  test('the 29 February 1900 that only Excel has is no day', () => {
    expect(() => readDay('60', { format: 'excel', orders: new Map() }, 'a')).toThrow(
      'outside the range of dates',
    );
  });

  test.each([
    ['2017-03-01', '2017-03-01'],
    ['2017/3/1', '2017-03-01'],
    [' 2017-03-01\t', '2017-03-01'],
    ['2017-03-01T23:30:00+02:00', '2017-03-01'],
    ['1488326400000', '2017-03-01'],
  ])('%s is the day %s', (text, day) => {
    expect(readDay(text, none, 'a')).toBe(day);
  });

  test.each([
    ['2017-03-01', 1488326400000],
    ['2017-03-01T00:00:00.5Z', 1488326400500],
    ['2017-03-01 02:00', 1488333600000],
    ['2017-03-01T02:00:00+02:00', 1488326400000],
    ['2017-03-01 12:05 AM', 1488326700000],
    ['1488326400000', 1488326400000],
  ])('%s is the instant %d', (text, ms) => {
    expect(readInstant(text, none, 'a')).toBe(ms);
  });

  test.each([
    ['2017-02-30', 'is not a valid day'],
    ['yesterday', 'is not a valid date'],
    ['20170301', 'the day 2017-03-01'],
    ['3/1/2017', 'use --date-format mdy or --date-format dmy'],
    ['2017-03-01 25:00', 'does not have a valid time of day'],
    ['1/1/17', 'is not a valid date'],
  ])('%s is refused: %s', (text, why) => {
    expect(() => readDay(text, none, 'a')).toThrow(why);
    expect(() => readInstant(text, none, 'a')).toThrow(why);
  });

  test('--date-format decides what plain digits are', () => {
    expect(readDay('20170301', { format: 'iso', orders: new Map() }, 'a')).toBe('2017-03-01');
    expect(readDay('20170301', { format: 'unix-ms', orders: new Map() }, 'a')).toBe('1970-01-01');
    expect(() => readDay('20170231', { format: 'iso', orders: new Map() }, 'a')).toThrow('not a valid day');
  });

  test('every instant that an export writes is read as itself', () => {
    fc.assert(
      fc.property(
        fc.date({
          noInvalidDate: true,
          min: new Date('0001-01-01T00:00:00Z'),
          max: new Date('9999-12-31T00:00:00Z'),
        }),
        (date) => {
          expect(readInstant(date.toISOString(), none, 'a')).toBe(date.getTime());
        },
      ),
      { numRuns: 200, seed: 7, examples: [[new Date(0)]] },
    );
  });
});
