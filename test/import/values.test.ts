// Reading values: dates in every spelling and order, exact decimals.
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  decideDates,
  readDay,
  readInstant,
  type SlashedEvidence,
  weighDate,
} from '../../cli/import/plan/dates.ts';
import { readValue } from '../../cli/import/rows/values.ts';
import type { Field } from '../../db/declare/fields.ts';
import { companies } from '../../db/resources/companies.ts';
import { deals } from '../../db/resources/deals.ts';

describe('dates', () => {
  const none = { format: null, orders: new Map() };
  const evidenceOf = (values: Record<string, string[]>) => {
    const found = new Map<string, SlashedEvidence>();
    for (const [header, list] of Object.entries(values))
      for (const value of list) weighDate(found, header, value);
    return found;
  };
  const decide = (values: Record<string, string[]>) =>
    decideDates(evidenceOf(values), Object.keys(values), null, false);

  test('one unambiguous date decides its column, and columns that do not tell', () => {
    expect([...decide({ a: ['3/1/2017', '12/31/2016'], b: ['1/2/2017'] }).orders]).toEqual([
      ['a', 'mdy'],
      ['b', 'mdy'],
    ]);
    expect([...decide({ a: ['31/12/2016'] }).orders]).toEqual([['a', 'dmy']]);
  });

  test.each([
    [{ a: ['1/2/2017'] }],
    [{ a: ['31/1/2017', '1/31/2017'] }],
    [{ a: ['31/1/2017'], b: ['1/31/2017'], c: ['1/2/2017'] }],
  ])('what does not tell is refused: %j', (values) => {
    expect(() => decide(values)).toThrow('Is it month/day/year or day/month/year?');
  });

  test('from a stream slashed dates need --date-format', () => {
    const found = evidenceOf({ a: ['12/31/2016'] });
    expect(() => decideDates(found, ['a'], null, true)).toThrow('read only once');
    expect([...decideDates(found, ['a'], 'mdy', true).orders]).toEqual([['a', 'mdy']]);
  });

  test.each([
    ['2017-03-01', '2017-03-01'],
    ['2017/3/1', '2017-03-01'],
    ['2017-03-01T23:30:00+02:00', '2017-03-01'],
    ['1488326400000', '2017-03-01'],
    ['-1', '1969-12-31'],
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
    ['0', 0],
  ])('%s is the instant %d', (text, ms) => {
    expect(readInstant(text, none, 'a')).toBe(ms);
  });

  test.each([
    ['2017-02-30', 'no day of the calendar'],
    ['yesterday', 'is no date'],
    ['20170301', 'may be a day (YYYYMMDD) or Unix milliseconds'],
    ['3/1/2017', 'say --date-format mdy or --date-format dmy'],
    ['2017-03-01 25:00', 'no time of day'],
    ['1/1/17', 'is no date'],
  ])('%s is refused: %s', (text, why) => {
    expect(() => readDay(text, none, 'a')).toThrow(why);
    expect(() => readInstant(text, none, 'a')).toThrow(why);
  });

  test('--date-format decides what plain digits are', () => {
    expect(readDay('20170301', { format: 'iso', orders: new Map() }, 'a')).toBe('2017-03-01');
    expect(readDay('20170301', { format: 'unix-ms', orders: new Map() }, 'a')).toBe('1970-01-01');
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

describe('values', () => {
  const dates = { format: null, orders: new Map() };
  const read = (field: Field | undefined, text: string, factor?: string) => {
    if (field === undefined) throw new Error('no such field');
    return readValue(field, text, { header: 'x', dates, factor });
  };

  test('a factor multiplies decimals exactly', () => {
    const { estimated_revenue: revenue, employee_count: employees } = companies.fields;
    expect(read(revenue, '1100.04', '1000000')).toBe(1_100_040_000);
    expect(read(revenue, '4.54', '1000000')).toBe(4_540_000);
    expect(read(revenue, '-.5', '0.1')).toBe(-0.05);
    expect(read(employees, '2.5', '2')).toBe(5);
    expect(read(employees, '2.50', '1e1')).toBe(25);
  });

  test.each(['1,234', '1 234.5', '€5', '12a', '0x10', '1e999'])('%s is no number', (text) => {
    expect(() => read(deals.fields.estimated_value, text)).toThrow('must be a number or null');
  });

  test('separators of thousands are refused with a word on how to write it', () => {
    expect(() => read(deals.fields.estimated_value, '1,234')).toThrow('leave out separators of thousands');
  });
});
